import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** Versions older or newer than those that Faultboard supports or tests, in projects that may not even use them. */
const PACKAGES = [
  ...['koa@2', '@nestjs/core@12', 'h3@1', 'pg@7', 'ioredis@4', 'react@17', 'mysql2@2', 'fastify@4', 'bullmq@4'],
  ...['pg-boss@9', 'express-rate-limit@5', 'express@~4.16.1'],
]
/** Next.js 14 and React 17 exclude each other. */
const SEPARATE = ['next@14', 'react@18', 'react-dom@18']

/** The workflow install.yml installs each package alone. */
const PROJECTS =
  process.env.FAULTBOARD_TEST_INSTALLS === 'each'
    ? [...PACKAGES.map((name) => [[name]]), [SEPARATE]]
    : [[PACKAGES], [SEPARATE]]

const hosts = resolve('test/hosts/node_modules')
const newestNode = join(hosts, `node24-${process.platform}-${process.arch}/bin/node`)

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
  // Skips prepack, which would rebuild dist while other tests use it.
  const flags = ['pack', '--ignore-scripts', '--json', '--pack-destination', root]
  const [packed] = JSON.parse(execFileSync('npm', flags, { encoding: 'utf8', stdio: 'pipe' })) as { filename: string }[]
  tarball = join(root, packed?.filename ?? '')
}, 60_000)
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

test.each(PROJECTS)('npm installs the package next to %j without flags', { timeout: 180_000 }, (packages) => {
  const folder = project([])
  const quick = ['--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  for (const names of [packages, [tarball]]) {
    execFileSync('npm', ['install', ...quick, ...names], { cwd: folder, stdio: 'pipe' })
  }
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(Object.keys(dependencies)).toHaveLength(packages.length + 1)
})

const MANAGERS = [
  {
    name: 'pnpm',
    entry: 'pnpm/bin/pnpm.mjs',
    again: ['install', '--frozen-lockfile'],
    app: ['exec', 'node', 'app.cjs'],
  },
  {
    ...{ name: 'Yarn with Plug and Play', entry: '@yarnpkg/cli-dist/bin/yarn.js' },
    ...{ again: ['install', '--immutable'], app: ['node', 'app.cjs'] },
  },
]

const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|META_FETCH_FAIL|YN0035|RequestError/

describe.each(MANAGERS)('$name', ({ entry, again, app }) => {
  const missing = [newestNode, join(hosts, entry)].every((file) => existsSync(file))
    ? ''
    : ` (skipped: ${entry.split('/bin/')[0]} or Node.js 24 is not installed in test/hosts)`

  test.skipIf(missing !== '').for(PROJECTS)(
    `installs the package next to %j, and the application records an error${missing}`,
    { timeout: 180_000 },
    ([packages = []], { skip }) => {
      const folder = project([...packages, `faultboard@file:${tarball}`])
      const run = (args: string[]) => {
        const { status, stdout, stderr } = spawnSync(newestNode, [join(hosts, entry), ...args], {
          ...{ cwd: folder, env: environment(), encoding: 'utf8', timeout: 170_000 },
        })
        return { status, output: stdout + stderr }
      }
      const installed = run(['install'])
      skip(UNREACHABLE.test(installed.output), 'the registry cannot be reached')
      expect(installed, installed.output).toMatchObject({ status: 0 })
      expect(installed.output).not.toMatch(/^.*(?:WARN|ERR|YN0002|YN0060).*faultboard/m)
      expect(run(again)).toMatchObject({ status: 0 })
      expect(run(app)).toEqual({ status: 0, output: 'No such order\n' })
    },
  )
})

/** A project of its own with these packages, such as `koa@2`. */
function project(packages: readonly string[]): string {
  const folder = mkdtempSync(join(root, 'project-'))
  const dependencies = Object.fromEntries(packages.map((name) => name.split(/(?<=.)@/)))
  // Some registries lack packages of a newer version, and Yarn resolves those of every platform.
  const resolutions = { 'msgpackr-extract': '3.0.4' }
  const manifest = { name: 'shop', private: true, dependencies, resolutions }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'app.cjs'), APP)
  // pnpm refuses to install BullMQ 4 without an answer to its build script.
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), 'allowBuilds:\n  msgpackr-extract: false\n')
  // Yarn otherwise uses a project in a parent folder.
  writeFileSync(join(folder, 'yarn.lock'), '')
  return folder
}

/** Package managers use the registry of npm, but their own caches. */
function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(FAULTBOARD_|NODE_OPTIONS$|CI$)/.test(name))
  return {
    ...Object.fromEntries(inherited),
    PATH: [dirname(newestNode), process.env.PATH].join(delimiter),
    YARN_NPM_REGISTRY_SERVER: execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim(),
    YARN_GLOBAL_FOLDER: join(root, 'yarn'),
    YARN_ENABLE_TELEMETRY: '0',
    YARN_ENABLE_SCRIPTS: 'false',
    XDG_DATA_HOME: join(root, 'pnpm'),
    NO_COLOR: '1',
  }
}
