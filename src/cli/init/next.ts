import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FileChange, newFile } from './file-change.js'
import type { Framework, Hand, Plan } from './framework.js'
import { type Host, readText } from './host.js'

export const next: Framework = {
  name: 'Next.js',
  package: 'next',
  least_major: 15,
  lines: [
    "// next.config.mjs:  serverExternalPackages: ['faultboard']",
    "// instrumentation.js:  export { onRequestError, register } from 'faultboard/next'",
    '// app/error_dashboard/[[...path]]/route.js:',
    "import { dashboard } from 'faultboard/next'",
    'export const { GET, HEAD, POST } = dashboard()',
  ],
  plan(host) {
    const parts = [config(host), instrumentation(host), route(host)]
    return {
      found: 'Next.js in package.json',
      changes: parts.flatMap(({ change }) => change ?? []),
      present: parts.flatMap(({ present }) => present ?? []),
      by_hand: parts.flatMap(({ hand }) => hand ?? []),
    } satisfies Plan
  },
}

/** One of: what to change, where it is already, what to do by hand. */
interface Part {
  change?: FileChange
  present?: string
  hand?: Hand
}

const EXTERNAL = "serverExternalPackages: ['faultboard'],"

/** The object in a configuration file, as `create-next-app` and the documentation of Next.js write it. */
const OBJECT = /^((?:const|let|var)\s+\w+(?:\s*:\s*\w+)?\s*=|export default|module\.exports\s*=)\s*\{\s*$/m

function config({ folder }: Host): Part {
  const path = ['next.config.ts', 'next.config.mjs', 'next.config.js'].find((name) => existsSync(join(folder, name)))
  if (path === undefined) return { change: newFile('next.config.mjs', ['export default {', `  ${EXTERNAL}`, '}']) }
  const before = readText(folder, path) ?? ''
  if (/['"]faultboard['"]/.test(before)) return { present: path }
  const match = before.includes('serverExternalPackages') ? null : OBJECT.exec(before)
  if (!match)
    return { hand: { reason: `${path} is written in a way that init does not understand`, lines: [EXTERNAL] } }
  const line = before.slice(0, match.index + match[0].trimEnd().length).split('\n').length
  return { change: { path, before, edits: [{ line, remove: 0, insert: [`  ${EXTERNAL}`] }] } }
}

function instrumentation(host: Host): Part {
  const { folder } = host
  const at = existsSync(join(folder, 'src/app')) || existsSync(join(folder, 'src/pages')) ? 'src/' : ''
  const line = "export { onRequestError, register } from 'faultboard/next'"
  const path = ['ts', 'js', 'mjs']
    .map((end) => `${at}instrumentation.${end}`)
    .find((name) => existsSync(join(folder, name)))
  if (path === undefined) return { change: newFile(`${at}instrumentation.${ending(host)}`, [line]) }
  if ((readText(folder, path) ?? '').includes('faultboard/next')) return { present: path }
  return { hand: { reason: `there is a ${path} already: call register and onRequestError in it`, lines: [line] } }
}

function route(host: Host): Part {
  const { folder } = host
  const has = (path: string) => existsSync(join(folder, path))
  const app = ['app', 'src/app'].find(has)
  const pages = ['pages', 'src/pages'].find(has) ?? 'pages'
  const path = app
    ? `${app}/error_dashboard/[[...path]]/route.${ending(host)}`
    : `${pages}/api/error_dashboard/[[...path]].${ending(host)}`
  if (has(path)) return { present: path }
  if (!app) {
    return {
      change: newFile(path, [
        "import { pagesDashboard } from 'faultboard/next'",
        '',
        'export default pagesDashboard()',
      ]),
    }
  }
  const lines = ["import { dashboard } from 'faultboard/next'", '', 'export const { GET, HEAD, POST } = dashboard()']
  return { change: newFile(path, lines) }
}

function ending({ uses_typescript }: Host): string {
  return uses_typescript ? 'ts' : 'js'
}
