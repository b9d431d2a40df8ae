import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { newFile } from './file-change.js'
import type { Framework, Hand, Plan } from './framework.js'
import type { Host } from './host.js'
import { readText } from './source-file.js'

const PLUGIN = "export { default } from 'faultboard/nitro'"

export const nuxt: Framework = {
  name: 'Nuxt',
  package: 'nuxt',
  least_major: 3,
  lines: ['// server/plugins/faultboard.js', PLUGIN],
  plan: (host) => moved(host) ?? withPlugin(host, 'Nuxt', 'server/plugins'),
}

/** Until Nuxt 4 the folder of the server moves with that of the pages. */
function moved(host: Host): Plan | null {
  const config = configOf(host)
  if (!config || !/(?<![\w$])(srcDir|serverDir)\s*:/.test(config.text)) return null
  const reason = `${config.path} names folders of its own: the file goes into plugins below that of the server`
  const by_hand = [{ reason, lines: ['// plugins/faultboard.js', PLUGIN] }]
  return { found: 'Nuxt in package.json', changes: [], present: [], by_hand }
}

export const nitro: Framework = {
  name: 'Nitro',
  package: 'nitropack',
  least_major: 2,
  lines: ['// plugins/faultboard.js', PLUGIN],
  plan(host) {
    const source = /srcDir:\s*['"]([\w./-]+)['"]/.exec(configOf(host)?.text ?? '')?.[1]
    return withPlugin(host, 'Nitro', source ? join(source, 'plugins') : 'plugins')
  },
}

/** Nitro takes along what it sees imported; from Node.js 24 on SQLite is built in. */
const CONFIG = `import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Nitro takes along what it sees imported; the compiled part of the SQLite driver is found only when it runs.
const folder = \`node_modules/@photostructure/sqlite/prebuilds/\${process.platform}-\${process.arch}\`
const drivers = ['glibc', 'musl'].map((libc) =>
  fileURLToPath(new URL(\`\${folder}/@photostructure+sqlite.\${libc}.node\`, import.meta.url)),
)

export default {
  externals: { traceInclude: drivers.filter((driver) => existsSync(driver)) },
}`.split('\n')

function withPlugin(host: Host, name: string, plugins: string): Plan {
  const paths = ['js', 'ts', 'mjs'].map((end) => `${plugins}/faultboard.${end}`)
  const present = paths.filter((path) => existsSync(join(host.folder, path)))
  if (present.length > 0) return { found: `${name} in package.json`, changes: [], present, by_hand: [] }
  const config = configOf(host)
  const hand: Hand = {
    reason: `with SQLite on Node.js 20 and 22 the build has to take its driver along, by ${config?.path ?? 'nuxt.config.ts'} (below nitro in Nuxt)`,
    lines: CONFIG,
  }
  const isDone = config?.text.includes('@photostructure/sqlite') ?? false
  const isNew = config === null && name === 'Nitro'
  return {
    found: `${name} in package.json`,
    changes: [
      newFile(`${plugins}/faultboard.${host.uses_typescript ? 'ts' : 'js'}`, [PLUGIN]),
      ...(isNew ? [newFile('nitro.config.mjs', CONFIG)] : []),
    ],
    present,
    by_hand: isDone || isNew ? [] : [hand],
  }
}

function configOf({ folder }: Host): { path: string; text: string } | null {
  const names = ['nitro.config', 'nuxt.config'].flatMap((name) => ['ts', 'mjs', 'js'].map((end) => `${name}.${end}`))
  const path = names.find((name) => existsSync(join(folder, name)))
  return path === undefined ? null : { path, text: readText(folder, path) ?? '' }
}
