import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { builtInSqlite } from '../../src/store/dialects/sqlite-library.js'
import { packInto } from '../support/processes/installed.js'
import { describeEachRuntime } from '../support/processes/runtimes.js'

const folder = mkdtempSync(join(tmpdir(), 'faultboard-quick-start-'))
let lockOutput: string
let installOutput: string

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'shop', version: '1.0.0', private: true }))
  const npm = (command: string) =>
    execFileSync('sh', ['-c', `npm ${command} --no-audit --no-fund --prefer-offline 2>&1`], {
      cwd: folder,
      encoding: 'utf8',
    })
  lockOutput = npm(`install --package-lock-only express ./${packInto(folder)}`)
  installOutput = npm('ci --ignore-scripts')
  for (const name of ['sqlite-host.mjs', 'sqlite-thread.mjs']) {
    copyFileSync(resolve('test/packed/fixtures', name), join(folder, name))
  }
}, 180_000)

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

describe('the packages of the quick start', () => {
  test('the packages of the quick start have no install script and cause no npm warning', () => {
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean }>
    }
    expect(Object.keys(packages)).toContain('node_modules/faultboard')
    expect(Object.keys(packages).filter((path) => packages[path]?.hasInstallScript)).toEqual([])
    expect(lockOutput).not.toMatch(NPM_WARNING)
    expect(installOutput).not.toMatch(NPM_WARNING)
  })

  test('the packages of the quick start are installed by npm ci without scripts, and contain the command line', () => {
    expect(installOutput).toMatch(/added \d+ packages/)
    const version = execFileSync(join(folder, 'node_modules/.bin/faultboard'), ['--version'], { encoding: 'utf8' })
    expect(version.trim()).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
  })

  test('the packages of the quick start contain no native code and take at most 25 MB on disk', () => {
    const packages = join(folder, 'node_modules')
    const files = readdirSync(packages, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files.map(({ name }) => name).filter((name) => name.endsWith('.node') || name === 'binding.gyp')).toEqual([])
    const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
    expect(sizes.reduce((total, size) => total + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES, 0)).toBeLessThan(25e6)
  })
})

const NPM_WARNING = /install-scripts|deprecated|EBADENGINE|ERESOLVE|peer/

/** Unit in which most file systems allocate space. */
const BLOCK_BYTES = 4096

const MAIN = 'node_modules/faultboard/dist/cli/main.js'

describeEachRuntime('the packages of the quick start', ({ major, path }) => {
  const isOlder = major < 22
  const reason = ' (skipped: Node.js 20 has no SQLite)'

  test('names the missing package if Node.js has no built-in SQLite', async () => {
    const program = `import { Tracker } from 'faultboard'
      Tracker.configure({ database: 'sqlite:missing.sqlite3' })
      const { state } = await Tracker.report(new Error('x'))
      const error = await Tracker.ready().catch((error) => error)
      console.log(JSON.stringify([state, error.code, error.message]))`
    writeFileSync(join(folder, 'missing.mjs'), program)
    const end = await run(path, [...(isOlder ? [] : ['--no-experimental-sqlite']), 'missing.mjs'])
    expect([end.code, end.signal]).toEqual([0, null])
    const [state, code, message] = JSON.parse(end.stdout) as string[]
    expect([state, code]).toEqual(['spooled', 'driver_missing'])
    const problem = /^SQLite on Node.js [\d.]+ needs the package @photostructure\/sqlite, which is not installed\. /
    expect(message).toMatch(problem)
    expect(message).toContain('Run  npm install @photostructure/sqlite  or use Node.js 22.16 or later')
    expect(end.stderr).toContain(message)
  })

  test('the command line names the missing package', async () => {
    const checked = await run(path, [...(isOlder ? [] : ['--no-experimental-sqlite']), MAIN, 'check'])
    expect(checked).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^failed +database .* npm install @photo/m),
    })
  })

  test.skipIf(isOlder)(`records and finds errors without any warning of its own${isOlder ? reason : ''}`, async () => {
    const { stderr, ...end } = await run(path, ['sqlite-host.mjs', 'once'])
    expect(end).toMatchObject({ code: 0, signal: null })
    expect(JSON.parse(end.stdout)).toEqual({
      state: 'recorded',
      found: ['cart is undefined'],
      stateInThread: 'recorded',
      isRestored: true,
    })
    const warnings = [...stderr.matchAll(/\w+Warning: .*/g)].map(([line]) => line)
    expect(warnings.sort()).toEqual([
      'ExperimentalWarning: of the host after the start',
      'ExperimentalWarning: of the host before the start',
      'ExperimentalWarning: of the host in the thread',
    ])
  })

  test.skipIf(isOlder)(`a query survives the end of its thread or process${isOlder ? reason : ''}`, async () => {
    const end = await run(path, ['sqlite-host.mjs', 'interrupted'])
    expect({ code: end.code, signal: end.signal, stdout: end.stdout }).toEqual({
      code: 0,
      signal: null,
      stdout: 'recorded\n',
    })
  })
})

test('the command line names the missing package for npx in a project without Faultboard', async () => {
  const npx = join(folder, '_npx/1/node_modules/faultboard')
  cpSync(join(folder, 'node_modules/faultboard'), npx, { recursive: true })
  const flags = builtInSqlite() ? ['--no-experimental-sqlite'] : []
  const demo = await run(process.execPath, [...flags, join('_npx/1', MAIN), 'demo', '--port', '0'])
  expect(demo).toMatchObject({ code: 1, stderr: expect.stringContaining(' npm install faultboard @photostructure/') })
})

interface End {
  code: number | null
  signal: string | null
  stdout: string
  stderr: string
}

async function run(node: string, args: string[]): Promise<End> {
  const child = spawn(node, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ])
  return { code, signal, stdout, stderr }
}
