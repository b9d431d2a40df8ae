import { execFileSync } from 'node:child_process'
import { chownSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { CREDENTIALS, dashboardAt, freePort } from '../adapters/host-process.js'
import { startProxy } from '../support/databases/proxy.js'
import { describeEachDatabase } from '../support/databases.js'
import { packInto } from '../support/processes/installed.js'
import {
  type Container,
  type ContainerOptions,
  containerProblem,
  RootFileSystem,
} from '../support/processes/root-file-system.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { eventually, temporaryFolder } from '../support/tracker.js'
import { deployedApp, sample } from './deployment-samples.js'

const NODE_24 = resolve(`test/hosts/node_modules/node24-${process.platform}-${process.arch}/bin/node`)
const problem = existsSync(NODE_24) ? containerProblem() : 'Node.js 24 is not installed in test/hosts'

const SECRETS = {
  FAULTBOARD_DASHBOARD_USERNAME: CREDENTIALS.user,
  FAULTBOARD_DASHBOARD_PASSWORD: CREDENTIALS.password,
}
/** An unprivileged user on a file system without a writable folder. */
const UNWRITABLE = { readOnly: true, user: '65534' }

describe.skipIf(problem !== '')(`docs/deployment.md${problem && ` (skipped: ${problem})`}`, () => {
  let root: RootFileSystem
  let image: Image
  const running: Container[] = []

  beforeAll(async () => {
    root = new RootFileSystem()
    image = await buildImage(root, sample('Docker', 'dockerfile'))
  }, 240_000)
  afterEach(async () => {
    for (const container of running.splice(0)) {
      if (container.isRunning()) container.signal('SIGKILL')
      await container.exited
    }
  })
  afterAll(() => root.remove())

  async function serve({ env, ...options }: ContainerOptions, command = image.command) {
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const container = root.start(command, {
      ...{ user: image.user, folder: image.folder, ...options },
      env: { ...image.env, ...env, PORT: String(port) },
    })
    running.push(container)
    const status = (path: string) => fetch(`${origin}${path}`).then((response) => response.status)
    const responds = () => status('/healthz').then(() => true, () => false) // biome-ignore format: one expression
    await eventually(() => !container.isRunning() || responds(), 'the application responds')
    expect(container.isRunning(), container.output().join('\n')).toBe(true)
    const dashboard = dashboardAt(`${origin}/error_dashboard`)
    return {
      status,
      dashboard,
      fail: async () => expect(await status('/')).toBe(500),
      /** Number of occurrences of the only error. */
      occurrences: async () => {
        const errors = await dashboard.waitForErrors('')
        expect(errors).toMatchObject([{ message: 'The first error' }])
        return errors[0]?.occurrence_count
      },
      /** Lines of Faultboard, without that of the URL. */
      warnings: () =>
        container.output().filter((line) => line.startsWith('[faultboard] ') && !line.includes('Dashboard: ')),
      async stop() {
        container.signal('SIGTERM')
        expect(await container.exited, container.output().join('\n')).toBe(0)
      },
    }
  }

  test('Docker: an unprivileged user records errors on a volume, and everything else is read-only', async () => {
    const { values } = parseArgs({
      args: sample('Docker', 'sh').replaceAll('\\\n', '').trim().split(/\s+/).slice(2),
      allowPositionals: true,
      options: {
        'read-only': { type: 'boolean' },
        tmpfs: { type: 'string', default: '' },
        volume: { type: 'string', short: 'v', default: '' },
        publish: { type: 'string', short: 'p' },
        env: { type: 'string', short: 'e', multiple: true },
      },
    })
    expect(values).toMatchObject({ 'read-only': true, publish: '3000:3000' })
    expect(values.env?.map((text) => text.split('=')[0])).toEqual(Object.keys(SECRETS))
    const path = values.volume.split(':')[1] ?? ''
    const volume = join(temporaryFolder(), 'volume')
    // Docker fills a new volume with the folder of the image, including its owner.
    execFileSync('cp', ['-a', join(root.changes, path), volume])
    for (const expected of [1, 2]) {
      const host = await serve({ readOnly: true, env: SECRETS, mounts: { [path]: volume, [values.tmpfs]: null } })
      await host.fail()
      expect(await host.occurrences()).toBe(expected)
      expect(host.warnings()).toEqual([])
      await host.stop()
    }
    expect(existsSync(join(root.changes, image.folder, '.env'))).toBe(false)
  })

  const analyze = existsSync('/usr/bin/systemd-analyze') ? '' : ' (skipped: systemd-analyze is not installed)'
  test.skipIf(analyze !== '')(`systemd: systemd-analyze accepts the unit${analyze}`, async () => {
    const file = '/etc/systemd/system/shop.service'
    mkdirSync(join(root.changes, file, '..'), { recursive: true })
    writeFileSync(join(root.changes, file), sample('systemd', 'ini'))
    expect(await root.run(['systemd-analyze', 'verify', file])).toEqual([])
  })

  test('systemd: a dynamic user records errors in the state folder, and root can read them', async () => {
    const unit = parseUnit(sample('systemd', 'ini'))
    // DynamicUser implies ProtectSystem=strict and PrivateTmp.
    expect(unit).toMatchObject({ DynamicUser: 'yes', StateDirectory: 'shop', EnvironmentFile: '/etc/shop.env' })
    const { WorkingDirectory = '', ExecStart = '', Environment = '' } = unit
    await root.run(['cp', '-a', image.folder, WorkingDirectory])
    const [name = '', value = ''] = Environment.split(/=(.*)/s)
    const state = temporaryFolder()
    const user = 61_234
    chownSync(state, user, user)
    const mounts = { '/var/lib/shop': state, '/tmp': null, '/var/tmp': null }
    const options = { readOnly: true, folder: WorkingDirectory, mounts }
    const service = { ...options, user: `${user}:${user}`, env: { ...SECRETS, [name]: value } }
    const program = ExecStart.split(' ')
    const host = await serve(service, program)
    await host.fail()
    expect(await host.occurrences()).toBe(1)
    await host.stop()
    const commands = sample('systemd', 'sh').replaceAll('sudo ', '')
    const output = await root.run(['sh', '-ec', commands], { ...options, env: { HOME: '/root' } })
    expect(output.join('\n')).toContain('The first error')
    // The command has not created files of root that the service cannot use.
    const restarted = await serve(service, program)
    await restarted.fail()
    expect(await restarted.occurrences()).toBe(2)
    expect([...host.warnings(), ...restarted.warnings()]).toEqual([])
    await restarted.stop()
  })

  test('logs the next step for a read-only SQLite folder, and the application keeps working', async () => {
    const host = await serve({ ...UNWRITABLE, env: { ...SECRETS, FAULTBOARD_DATABASE: 'sqlite:/app/errors.sqlite3' } })
    await host.fail()
    expect((await host.dashboard.get('/errors')).status).toBe(503)
    expect(host.warnings()).toEqual([
      '[faultboard] Cannot open /app/errors.sqlite3: unable to open database file. Check that its folder exists and is writable.',
      "[faultboard] Errors are lost: cannot write to the database or the spool folder: EROFS: read-only file system, mkdir '/app/errors.sqlite3-spool'",
    ])
    await host.stop()
  })

  describeEachDatabase(
    'docs/deployment.md',
    (database) => {
      test('Kubernetes: replicas record errors, keep them during an outage and end in time', {
        timeout: 90_000,
      }, async () => {
        const { spec } = (parse(sample('Kubernetes', 'yaml')) as Deployment).spec.template
        const [migrate] = spec.initContainers
        const [shop] = spec.containers
        const proxy = await startProxy(await database.empty())
        const env = { ...SECRETS, FAULTBOARD_DATABASE: proxy.url }
        for (const { envFrom } of [migrate, shop]) expect(envFrom).toEqual([{ secretRef: { name: 'faultboard' } }])
        await root.run(migrate.command, { ...image, env })

        const { runAsUser, ...context } = shop.securityContext
        expect(context).toEqual({ runAsNonRoot: true, readOnlyRootFilesystem: true })
        const emptyFolders = spec.volumes.filter(({ emptyDir }) => emptyDir).map(({ name }) => name)
        expect(shop.volumeMounts.map(({ name }) => name)).toEqual(emptyFolders)
        const host = await serve({
          readOnly: true,
          user: String(runAsUser),
          env: { ...env, ...Object.fromEntries(shop.env.map(({ name, value }) => [name, value])) },
          mounts: Object.fromEntries(shop.volumeMounts.map(({ mountPath }) => [mountPath, null])),
        })
        await host.fail()
        expect(await host.occurrences()).toBe(1)
        expect(host.warnings()).toEqual([])
        await proxy.refuse()
        await host.fail()
        for (const { httpGet } of [shop.readinessProbe]) expect(await host.status(httpGet.path)).toBe(200)
        await eventually(() => host.warnings().some((line) => line.includes('Errors are written to /spool')), 'spooled')
        await proxy.open()
        await eventually(async () => (await host.occurrences()) === 2, 'the error is imported')
        const stoppedAt = Date.now()
        await host.stop()
        expect(Date.now() - stoppedAt).toBeLessThan(spec.terminationGracePeriodSeconds * 1000)
      })

      test('logs a warning on a file system without a writable folder, and records errors', async () => {
        const env = { ...SECRETS, FAULTBOARD_DATABASE: await database.fresh() }
        const lossWarning =
          /^\[faultboard\] \/tmp\/\S+ is not writable \(EROFS\): errors would be lost .* Set spool_path/
        const journalWarning = /^\[faultboard\] Cannot write to the spool folder \(EROFS.* after the commit/
        const expected = { false: [lossWarning], true: [journalWarning, lossWarning] }
        for (const [FAULTBOARD_ASYNC_LOGGING, patterns] of Object.entries(expected)) {
          const host = await serve({ ...UNWRITABLE, env: { ...env, FAULTBOARD_ASYNC_LOGGING } })
          await host.fail()
          await eventually(() => host.warnings().length >= patterns.length, 'the warnings are logged')
          expect(host.warnings().sort()).toEqual(patterns.map((pattern) => expect.stringMatching(pattern)).reverse())
          await host.stop()
        }
        const { counts } = await verifiedCounts(env.FAULTBOARD_DATABASE)
        expect(Object.values(counts)).toEqual([2])
      })
    },
    { except: ['sqlite', 'mysql'] },
  )
})

interface Image {
  user: string
  folder: string
  env: Record<string, string>
  command: string[]
}

interface Deployment {
  spec: { template: { spec: PodSpec } }
}

interface PodSpec {
  terminationGracePeriodSeconds: number
  initContainers: [{ command: string[]; envFrom: object[] }]
  containers: [
    {
      envFrom: object[]
      env: { name: string; value: string }[]
      securityContext: { runAsUser: number; runAsNonRoot: boolean; readOnlyRootFilesystem: boolean }
      volumeMounts: { name: string; mountPath: string }[]
      readinessProbe: { httpGet: { path: string } }
    },
  ]
  volumes: { name: string; emptyDir?: object }[]
}

/** Executes the instructions of a Dockerfile. This machine with Node.js 24 replaces the base image. */
async function buildImage(root: RootFileSystem, dockerfile: string): Promise<Image> {
  await addBaseImage(root)
  const context = await createContext(root)
  const image: Image = { user: 'root', folder: '/', env: {}, command: [] }
  const instructions: Record<string, (value: string) => unknown> = {
    FROM: (value) => expect(value).toBe('node:24-slim'),
    WORKDIR(value) {
      image.folder = value
      mkdirSync(join(root.changes, value), { recursive: true })
    },
    COPY(value) {
      const paths = value.split(' ')
      const target = join(root.changes, image.folder, paths.pop() ?? '')
      const copy = `tar --exclude-from=.dockerignore -cf - ${paths.join(' ')} | tar -xf - -C ${target}`
      execFileSync('sh', ['-ec', copy], { cwd: context })
    },
    RUN: (value) => root.run(['sh', '-ec', value], { ...image, env: { ...image.env, ...NETWORK } }),
    USER(value) {
      image.user = value
    },
    ENV(value) {
      const [name = '', text = ''] = value.split(/=(.*)/s)
      image.env[name] = text
    },
    CMD(value) {
      image.command = JSON.parse(value) as string[]
    },
  }
  for (const line of dockerfile.trim().split('\n')) {
    const [name = '', value = ''] = line.split(/ (.*)/s)
    const execute = instructions[name]
    if (!execute) throw new Error(`Unknown instruction ${line}`)
    await execute(value)
  }
  return image
}

/** Variables that npm needs to reach its registry. */
const NETWORK = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => /_proxy$|^NODE_EXTRA_CA_CERTS$/i.test(name))),
  HOME: '/root',
} as Record<string, string>

/** Adds the contents of node:24-slim that the recipes use. */
async function addBaseImage(root: RootFileSystem): Promise<void> {
  for (const folder of ['usr/local/bin', 'usr/bin']) mkdirSync(join(root.changes, folder), { recursive: true })
  copyFileSync(NODE_24, join(root.changes, 'usr/local/bin/node'))
  symlinkSync('../local/bin/node', join(root.changes, 'usr/bin/node'))
  await root.run(['sh', '-c', 'id node || useradd --non-unique --uid 1000 --create-home node'])
}

/** Creates the folder of an application, with files that do not belong in an image. */
async function createContext(root: RootFileSystem): Promise<string> {
  const context = join(root.changes, 'context')
  for (const folder of ['packages', 'context/node_modules/express'])
    mkdirSync(join(root.changes, folder), { recursive: true })
  const faultboard = `file:../packages/${packInto(join(root.changes, 'packages'))}`
  const files = {
    'package.json': JSON.stringify({
      name: 'shop',
      private: true,
      dependencies: { express: '5', pg: '8', faultboard },
    }),
    'app.mjs': deployedApp(),
    '.dockerignore': sample('Docker', 'text'),
    '.env': 'FAULTBOARD_DASHBOARD_PASSWORD=development',
    'node_modules/express/package.json': '{}',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(context, name), text)
  await root.run(['npm', 'install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund'], {
    folder: '/context',
    env: NETWORK,
  })
  return context
}

function parseUnit(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
}
