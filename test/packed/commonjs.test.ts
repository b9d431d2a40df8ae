import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { packedFolder } from '../support/processes/installed.js'
import { describeEachRuntime } from '../support/processes/runtimes.js'

const hosts = resolve('test/hosts/node_modules')
const root = packedFolder()

const APP = `
  const express = require('express')
  const { Tracker } = require('faultboard')
  const { capture, dashboard } = require('faultboard/express')
  Tracker.configure({ dashboard_username: 'admin', dashboard_password: 'secret' })
  const app = express().set('env', 'production')
  app.use(dashboard())
  app.get('/', () => { throw new Error('No such order') })
  app.use(capture())
  module.exports = app`

const JEST_TEST = `
  const { recordedErrors } = require('faultboard/testing')
  const app = require('./app')
  let server
  beforeAll((done) => { server = app.listen(0, '127.0.0.1', done) })
  afterAll((done) => { server.close(done) })
  test('the application records an error and shows it in the dashboard', async () => {
    const origin = 'http://127.0.0.1:' + server.address().port
    expect((await fetch(origin)).status).toBe(500)
    expect((await recordedErrors()).map(({ message }) => message)).toEqual(['No such order'])
    const authorization = 'Basic ' + btoa('admin:secret')
    const page = await fetch(origin + '/error_dashboard/errors', { headers: { authorization } })
    expect(await page.text()).toContain('No such order')
  })`

const TYPED_HOST = `
  import { type Severity, Tracker } from 'faultboard'
  import { capture } from 'faultboard/express'
  const severity: Severity = 'high'
  Tracker.configure({ database: 'sqlite::memory:' })
  // @ts-expect-error an unknown option
  const unknown: Parameters<typeof Tracker.start> = [{ retention_dayz: 30 }]
  async function main(): Promise<void> {
    await Tracker.report(new Error('No such order'), { severity })
    await Tracker.flush()
    const [error] = await Tracker.Queries.ErrorsList.call()
    console.log(error?.message, typeof capture, unknown.length)
  }
  void main()`

describeEachRuntime('a CommonJS application', ({ path, name }) => {
  const missing = existsSync(join(hosts, 'jest')) ? '' : ' (skipped: Jest is not installed in test/hosts)'

  test.skipIf(missing !== '')(
    `a CommonJS application is tested with Jest without flags${missing}`,
    { timeout: 120_000 },
    () => {
      const cwd = project(`jest ${name}`, { 'app.js': APP, 'app.test.js': JEST_TEST })
      // Babel would only transform the application, not its packages.
      const flags = ['--rootDir', cwd, '--no-cache', '--transform', '{}', '--testTimeout', '60000']
      // Without a shutdown, Jest must end all the same.
      const { status, stderr } = spawnSync(path, [join(hosts, 'jest/bin/jest.js'), ...flags], {
        ...{ cwd, env: environment(), encoding: 'utf8', timeout: 100_000 },
      })
      expect(stderr).toContain('Tests:       1 passed, 1 total')
      expect(stderr).not.toMatch(/did not exit|torn down|ExperimentalWarning/)
      expect(status).toBe(0)
      // Jest runs with a database in memory.
      expect(readdirSync(cwd).sort()).toEqual(['app.js', 'app.test.js', 'package.json'])
    },
  )
})

describe('CommonJS and ES modules', () => {
  test("the CommonJS build starts even if a document exists, as in Jest's jsdom environment", () => {
    const script = `
      globalThis.document = { baseURI: 'http://localhost/' }
      const { Tracker } = require('../node_modules/faultboard/dist/index.cjs')
      Tracker.configure({ database: 'sqlite::memory:' }).start()
      Tracker.report(new Error('No such order')).then(({ state }) => console.log(state))`
    const cwd = project('document', { 'document.cjs': script })
    expect(run(process.execPath, ['document.cjs'], cwd)).toBe('recorded\n')
  })

  test('CommonJS and ES modules share one tracker, even if a tool loads them twice', () => {
    const script = `
      import { createRequire } from 'node:module'
      import { Tracker } from 'faultboard'
      const require = createRequire(import.meta.url)
      const first = require('faultboard')
      for (const file of Object.keys(require.cache)) delete require.cache[file]
      const second = require('faultboard')
      second.Tracker.configure({ database: 'sqlite::memory:' })
      await first.Tracker.report(new Error('No such order'))
      await Tracker.flush()
      const [{ message, occurrence_count }] = await second.Tracker.Queries.ErrorsList.call()
      const shared = [first.Tracker, second.Tracker].map((tracker) => tracker === Tracker)
      console.log(JSON.stringify([first === second, shared, message, occurrence_count]))`
    const cwd = project('both', { 'both.mjs': script })
    expect(JSON.parse(run(process.execPath, ['both.mjs'], cwd))).toEqual([false, [true, true], 'No such order', 1])
  })

  test('every entry has types and modules for CommonJS and ES modules', () => {
    const entries = Object.entries(manifest.exports).filter(([, entry]) => typeof entry === 'object')
    const types = Object.fromEntries(
      entries.flatMap(([name, entry]) =>
        typeof entry === 'object' && name !== '.' ? [[name.slice(2), [entry.require.types]]] : [],
      ),
    )
    // TypeScript 5 with `module: commonjs` ignores `exports`.
    expect(manifest.typesVersions).toEqual({ '*': types })
    const script = `
      const names = ${JSON.stringify(entries.map(([name]) => `faultboard${name.slice(1)}`))}
      const keys = (module) => Object.keys(module).filter((key) => !/^(__esModule|module\\.exports)$/.test(key)).sort().join()
      async function main() {
        for (const name of names.filter((name) => !/register|browser|react/.test(name))) {
          const [esm, cjs] = [await import(name), require(name)]
          if (keys(esm) !== keys(cjs)) throw new Error(name + ': ' + keys(esm) + ' is not ' + keys(cjs))
          for (const key of Object.keys(cjs)) if (esm[key] !== cjs[key]) throw new Error(name + ' has two values of ' + key)
        }
        console.log('same exports')
      }
      main()`
    const cwd = project('entries', { 'entries.cjs': script })
    expect(run(process.execPath, ['entries.cjs'], cwd)).toBe('same exports\n')
  })
})

const missing = existsSync(join(hosts, 'typescript5')) ? '' : ' (skipped: TypeScript 5 is not installed in test/hosts)'

describe.skipIf(missing !== '')(`a TypeScript application with module: commonjs${missing}`, () => {
  const cwd = project('typed', {
    'host.ts': TYPED_HOST,
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        ...{ module: 'commonjs', target: 'es2022', strict: true, skipLibCheck: true, outDir: 'out' },
        ...{ types: ['node'], typeRoots: [resolve('node_modules/@types')] },
      },
      files: ['host.ts'],
    }),
  })
  const typescript = join(hosts, 'typescript5')

  test.each([
    ['tsc', () => run(process.execPath, [join(typescript, 'bin/tsc')], cwd), ['out/host.js']],
    // tsc has checked the types.
    ['ts-node', () => '', [join(hosts, 'ts-node/dist/bin.js'), '-T', '--compiler', typescript, 'host.ts']],
    ['tsx', () => '', [resolve('node_modules/tsx/dist/cli.mjs'), 'host.ts']],
  ])('runs with %s', { timeout: 60_000 }, (_, compile, args) => {
    expect(compile()).toBe('')
    expect(run(process.execPath, args, cwd)).toBe('No such order function 1\n')
  })
})

function project(name: string, files: Record<string, string>): string {
  const folder = join(root, name.replace(/\W/g, '-'))
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'shop', version: '1.0.0', private: true }))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  return folder
}

function run(program: string, args: string[], cwd: string): string {
  return execFileSync(program, args, {
    cwd,
    env: environment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|FAULTBOARD_|NODE_OPTIONS$)/.test(name))
  return { ...Object.fromEntries(inherited), NO_COLOR: '1', NODE_ENV: '' }
}
