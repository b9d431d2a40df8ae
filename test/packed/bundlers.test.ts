import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { describe, expect, test } from 'vitest'
import { packedFolder } from '../support/processes/installed.js'

interface Bundle {
  entry: string
  output: string
  /** True if the package stays out of the bundle. */
  external: boolean
}

interface Bundler {
  /** Package in test/hosts, unless this repository has the bundler. */
  needs?: string
  format: 'cjs' | 'mjs'
  bundle(options: Bundle): Promise<unknown>
}

const hosts = resolve('test/hosts/node_modules')
const root = packedFolder()

const WORK = `
  Tracker.configure({ database: 'sqlite::memory:' })
  async function main() {
    Tracker.start()
    await Tracker.report(new Error('No such order'))
    await Tracker.flush()
    const [error] = await Tracker.Queries.ErrorsList.call()
    console.log(error.message)
  }
  main().catch((error) => { console.error(error.message); process.exitCode = 1 })`

const SUCCESS = { status: 0, stdout: 'No such order\n', stderr: '' }

const BUNDLERS: Record<string, Bundler> = {
  'esbuild, ES module': { format: 'mjs', bundle: (options) => runEsbuild(options, 'esm') },
  'esbuild, CommonJS': { format: 'cjs', bundle: (options) => runEsbuild(options, 'cjs') },
  Rollup: { format: 'mjs', bundle: runRollup },
  'webpack 5': { needs: 'webpack', format: 'cjs', bundle: runWebpack },
  ncc: { needs: '@vercel/ncc', format: 'cjs', bundle: runNcc },
}

describe.each(Object.entries(BUNDLERS))('a host bundled with %s', (name, { needs, format, bundle }) => {
  const missing = needs === undefined || existsSync(join(hosts, needs)) ? '' : ` (skipped: no ${needs} in test/hosts)`
  const folder = join(root, name.replace(/\W+/g, '-'))
  const entry = join(folder, `host.${format}`)
  const load = format === 'mjs' ? "import { Tracker } from 'faultboard'" : "const { Tracker } = require('faultboard')"
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'shop', version: '1.0.0', private: true }))
  writeFileSync(entry, `${load}\n${WORK}`)

  test.skipIf(missing !== '')(
    `a bundled host works if the package is external${missing}`,
    { timeout: 120_000 },
    async () => {
      const output = join(folder, 'external', `bundle.${format}`)
      await bundle({ entry, output, external: true })
      expect(run(output)).toEqual(SUCCESS)
    },
  )

  const outcome = format === 'mjs' ? 'loads the installed package' : 'fails at the start with a message'

  test.skipIf(missing !== '')(`a bundled host otherwise ${outcome}${missing}`, { timeout: 120_000 }, async () => {
    const output = join(folder, 'bundled', `bundle.${format}`)
    await bundle({ entry, output, external: false })
    const { status, stdout, stderr } = run(output)
    if (format === 'mjs') return expect({ status, stdout, stderr }).toEqual(SUCCESS)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(
      /^Faultboard is not configured correctly:\n {2}- Faultboard is part of a bundle.* external \(/,
    )
  })
})

function runEsbuild({ entry, output, external }: Bundle, format: 'esm' | 'cjs') {
  return build({
    ...{ entryPoints: [entry], outfile: output, format, bundle: true, platform: 'node', logLevel: 'error' },
    external: external ? ['faultboard'] : [],
  })
}

/** Resolves packages like a plugin for Node.js does. */
async function runRollup({ entry, output, external }: Bundle) {
  const packageFile = join(root, 'node_modules/faultboard/dist/index.js')
  const bundle = await rollup({
    input: entry,
    external: (id) => (external && /^faultboard(?:\/|$)/.test(id)) || !/^[./]|^faultboard/.test(id),
    plugins: [{ name: 'packages', resolveId: (id) => (id === 'faultboard' ? packageFile : null) }],
  })
  await bundle.write({ file: output, format: 'es', inlineDynamicImports: true })
}

async function runWebpack({ entry, output, external }: Bundle) {
  const { default: webpack } = (await import(`${hosts}/webpack/lib/index.js`)) as { default: Webpack }
  const options = {
    ...{ entry, target: 'node', mode: 'none', output: { path: resolve(output, '..'), filename: 'bundle.cjs' } },
    ...(external ? { externals: [/^faultboard(\/|$)/], externalsType: 'node-commonjs' } : {}),
  }
  await new Promise((done, failed) => webpack(options, (error, result) => (error ? failed(error) : done(result))))
}

type Webpack = (options: object, done: (error: Error | null, result: unknown) => void) => void

async function runNcc({ entry, output, external }: Bundle) {
  const { default: ncc } = (await import(`${hosts}/@vercel/ncc/dist/ncc/index.js`)) as { default: Ncc }
  const { code } = await ncc(entry, { externals: external ? ['faultboard'] : [], cache: false, quiet: true })
  mkdirSync(resolve(output, '..'), { recursive: true })
  writeFileSync(output, code)
}

type Ncc = (entry: string, options: object) => Promise<{ code: string }>

function run(file: string) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|FAULTBOARD_|NODE_OPTIONS$)/.test(name))
  const env = { ...Object.fromEntries(inherited), NODE_ENV: '' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { env, encoding: 'utf8', timeout: 60_000 })
  return { status, stdout, stderr }
}
