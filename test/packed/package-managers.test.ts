import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { packInto } from '../support/processes/installed.js'
import { describeEachRuntime } from '../support/processes/runtimes.js'

/** Versions older or newer than those that Faultboard supports or tests, in projects that may not even use them. */
const PACKAGES = [
  ...['koa@2', '@nestjs/core@12', 'h3@1', 'pg@7', 'ioredis@4', 'react@17', 'mysql2@2', 'fastify@4', 'bullmq@4'],
  ...['pg-boss@9', 'express-rate-limit@5', 'express@~4.16.1'],
]
/** Next.js 14 and React 17 exclude each other. */
const SEPARATE = ['next@14', 'react@18', 'react-dom@18']

/** The workflow install.yml installs each package alone, with every version of Node.js. */
const installsEach = process.env.FAULTBOARD_TEST_INSTALLS === 'each'
const PROJECTS = installsEach ? [...PACKAGES.map((name) => [[name]]), [SEPARATE]] : [[PACKAGES], [SEPARATE]]

const hosts = resolve('test/hosts/node_modules')
/** A busy disk deletes some hundred files per second. */
const REMOVAL_TIMEOUT_MS = 180_000

const APP = `
  const { Tracker } = require('faultboard')
  Tracker.configure({ database: 'sqlite::memory:' })
  Tracker.report(new Error('No such order')).then(async () => {
    const [error] = await Tracker.Queries.ErrorsList.call()
    console.log(error.message)
    await Tracker.shutdown()
  })`

const root = mkdtempSync(join(tmpdir(), 'faultboard-managers-'))
let tarball: string

beforeAll(() => {
  tarball = join(root, packInto(root))
}, 60_000)
afterAll(() => remove(root), REMOVAL_TIMEOUT_MS)

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

interface Manager {
  name: string
  /** Program in test/hosts. npm is installed with Node.js. */
  entry: string | null
  install: string[]
  /** Flag of `install` that resolves all versions, checks the peers and writes the lock file. */
  lockOnly: string
  /** Installs from the lock file. */
  again: string[]
  app: string[]
  /**
   * Installs the real packages. npm and Yarn need 40 s of CPU time for them, so they install manifests with these
   * versions, which are all that a package manager reads to check peers.
   */
  isReal?: boolean
}

const MANAGERS: Manager[] = [
  {
    ...{ name: 'npm', entry: null, install: ['install', '--no-audit', '--no-fund', '--prefer-offline'] },
    ...{
      lockOnly: '--package-lock-only',
      again: ['ci', '--ignore-scripts', '--no-audit', '--no-fund'],
      app: ['run', '--silent', 'app'],
    },
  },
  {
    ...{ name: 'pnpm', entry: 'pnpm/bin/pnpm.mjs', install: ['install'] },
    ...{ lockOnly: '--lockfile-only', again: ['install', '--frozen-lockfile'], app: ['exec', 'node', 'app.cjs'] },
    isReal: true,
  },
  {
    ...{ name: 'Yarn with Plug and Play', entry: '@yarnpkg/cli-dist/bin/yarn.js', install: ['install'] },
    ...{ lockOnly: '--mode=update-lockfile', again: ['install', '--immutable'], app: ['node', 'app.cjs'] },
  },
]

const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|META_FETCH_FAIL|YN0035|RequestError/

for (const { name, entry, install, lockOnly, again, app, isReal = installsEach } of MANAGERS) {
  const missing =
    entry === null || existsSync(join(hosts, entry))
      ? ''
      : ` (skipped: ${entry.split('/bin/')[0]} is not installed in test/hosts)`
  describeEachRuntime(
    name,
    ({ major, path }) => {
      test.skipIf(missing !== '').for(PROJECTS)(
        `installs the package next to %j, and the application records an error${missing}`,
        { timeout: 180_000 },
        ([packages = []], { skip }) => {
          // Node.js 20 has no SQLite.
          const sqlite = major < 22 ? ['@photostructure/sqlite@1'] : []
          const neighbors = isReal ? packages : packages.map(withoutContents)
          const folder = project([...neighbors, ...sqlite, `faultboard@file:${tarball}`])
          onTestFinished(() => remove(folder), REMOVAL_TIMEOUT_MS)
          const run = (args: string[]) => {
            const [program, ...rest] = entry === null ? ['npm', ...args] : [path, join(hosts, entry), ...args]
            const options = { cwd: folder, env: environment(path), encoding: 'utf8', timeout: 170_000 } as const
            const { status, stdout, stderr } = spawnSync(program as string, rest, options)
            return { status, output: stdout + stderr }
          }
          // A second real installation would take half a minute.
          const isLockOnly = packages === SEPARATE && !installsEach
          const installed = run([...install, ...(isLockOnly ? [lockOnly] : [])])
          skip(UNREACHABLE.test(installed.output), 'the registry cannot be reached')
          expect(installed, installed.output).toMatchObject({ status: 0 })
          expect(installed.output).not.toMatch(/^.*(?:WARN|ERR|npm warn|npm error|YN0002|YN0060).*faultboard/m)
          if (isLockOnly) return
          if (entry !== null || installsEach) expect(run(again)).toMatchObject({ status: 0 })
          const { status, output } = run(app)
          // npm may warn about the configuration of this machine.
          expect({ status, output: output.replace(/^npm warn .*\n/gm, '') }).toEqual({
            status: 0,
            output: 'No such order\n',
          })
        },
      )
    },
    { onlyNewest: !installsEach },
  )
}

/** A project of its own with these packages, such as `koa@2`. */
function project(packages: readonly string[]): string {
  const folder = mkdtempSync(join(root, 'project-'))
  const dependencies = Object.fromEntries(packages.map((name) => name.split(/(?<=.)@/)))
  // Some registries lack packages of a newer version, and Yarn resolves those of every platform.
  const overrides = { 'msgpackr-extract': '3.0.4' }
  const scripts = { app: 'node app.cjs' }
  const manifest = { name: 'shop', private: true, scripts, dependencies, overrides, resolutions: overrides }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'app.cjs'), APP)
  // pnpm refuses to install packages with a build script without an answer to it.
  const builds = ['msgpackr-extract', "'@photostructure/sqlite'"].map((name) => `  ${name}: false\n`)
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), `allowBuilds:\n${builds.join('')}`)
  // Yarn otherwise uses a project in a parent folder.
  writeFileSync(join(folder, 'yarn.lock'), '')
  return folder
}

/** Packs a package such as `koa@2` that consists of a manifest. Returns its name and address. */
function withoutContents(dependency: string): string {
  const [name = '', range = ''] = dependency.split(/(?<=.)@/)
  const folder = mkdtempSync(join(root, 'manifest-'))
  const file = join(folder, 'package.tgz')
  mkdirSync(join(folder, 'package'))
  const version = [...(range.match(/\d+/g) ?? []), 0, 0].slice(0, 3).join('.')
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name, version }))
  execFileSync('tar', ['-czf', file, '-C', folder, 'package'])
  return `${name}@file:${file}`
}

const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()

/** Runs programs with this Node.js. Package managers use the registry of npm; pnpm and Yarn have their own caches. */
function environment(node: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(FAULTBOARD_|NODE_OPTIONS$|CI$)/.test(name))
  return {
    ...Object.fromEntries(inherited),
    PATH: [dirname(node), process.env.PATH].join(delimiter),
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_GLOBAL_FOLDER: join(root, 'yarn'),
    YARN_ENABLE_TELEMETRY: '0',
    YARN_ENABLE_SCRIPTS: 'false',
    XDG_DATA_HOME: join(root, 'pnpm'),
    NO_COLOR: '1',
  }
}
