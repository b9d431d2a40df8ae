import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Health } from '../../../src/health/report.js'
import type { Settings } from '../../../src/options.js'
import { MIGRATIONS } from '../../../src/store/migrations/list.js'
import { startProxy } from '../../support/databases/proxy.js'
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js'
import { type Host, serveTracker, startHost } from '../../support/host.js'
import { eventually, temporaryFolder, withDatabase } from '../../support/tracker.js'

const DAY = 86_400_000

async function start(database: string, settings: Settings = {}, now = Date.now): Promise<Host> {
  const host = await startHost(database, { spool_path: temporaryFolder(), ...settings }, { now })
  onTestFinished(() => host.close())
  return host
}

const healthOf = async (host: Host) => (await host.json('/health')) as unknown as Health & { status: number }

describeOneDatabase('health', (database) => {
  test('returns ok with all sections for a working tracker', async () => {
    const host = await start(await database.fresh())
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x' })
    const health = await healthOf(host)
    expect(health).toMatchObject({
      status: 200,
      state: 'ok',
      reasons: [],
      recorder: { buffered: 0, queued: 0, unavailable_since: null },
      spool: { files: 0, failed: 0 },
      database: { kind: database.dialect, reachable: true, problem: null, migrations: { pending: [] } },
      work: { jobs: {}, deliveries: { by_state: {}, last_failures: [] }, cleanup: { last_run_at: null } },
      process: { pid: process.pid, node_version: process.version },
    })
    expect(health.recorder.last_flush_at).not.toBeNull()
    expect(health.database.latency_ms).toBeGreaterThanOrEqual(0)
    expect(health.database.migrations?.applied).toEqual(Object.keys(MIGRATIONS))
    expect(health.process.faultboard_version).toMatch(/^\d+\.\d+\.\d+/)
    expect(await (await host.get('/health')).text()).toContain('Healthy')
  })

  test('reports failed jobs and notifications with their last response, and an overdue cleanup', async () => {
    const url = await database.fresh()
    const host = await start(url)
    await host.tracker.ready()
    await withDatabase(url, async ({ read }) => {
      const job = { name: 'digest', payload: '{}', run_at: 1, attempts: 5, max_attempts: 5, created_at: 1 }
      const failed = { ...job, state: 'failed', last_error: 'no such host', finished_at: Date.now() }
      // Scheduled for later, because due jobs run immediately.
      const later = { ...job, state: 'waiting', run_at: Date.now() + DAY }
      for (const job of [failed, later, later]) await read.insertInto('faultboard_jobs').values(job).execute()
      const sent = { channel: 'webhook', event: 'new_error', payload: '{}', created_at: Date.now(), attempts: 5 }
      await read
        .insertInto('faultboard_deliveries')
        .values([
          { ...sent, idempotency_key: '1', state: 'failed', last_response: '<b>502</b> Bad Gateway' },
          { ...sent, idempotency_key: '2', state: 'sent', last_response: '200' },
        ])
        .execute()
      const lease = { name: 'cleanup', expires_at: 0, last_run_at: Date.now() - 3 * DAY }
      await read.insertInto('faultboard_leases').values(lease).execute()
    })
    const { state, reasons, work } = await healthOf(host)
    expect(state).toBe('degraded')
    expect(reasons.map(({ message: sentence }) => sentence).join('\n')).toMatch(
      /1 job failed.*digest: no such host[\s\S]*last deleted at .*npx faultboard cleanup/,
    )
    expect(work).toMatchObject({
      engine: { name: 'embedded', problem: null, runs_in_this_process: true },
      jobs: { failed: 1, delayed: 2 },
      dead_letters: [{ name: 'digest', attempts: 5, last_error: 'no such host' }],
      deliveries: { by_state: { failed: 1, sent: 1 }, last_failures: [{ channel: 'webhook', attempts: 5 }] },
    })
    const page = await (await host.get('/health')).text()
    expect(page).toContain('&lt;b&gt;502&lt;/b&gt; Bad Gateway')
    expect(page).toContain('Degraded')
  })

  test('lists a failed notification but stays healthy once later notifications succeed', async () => {
    const url = await database.fresh()
    const host = await start(url)
    await host.tracker.ready()
    await withDatabase(url, async ({ read }) => {
      const message = { channel: 'webhook', event: 'new_error', payload: '{}', attempts: 5 }
      const week = Date.now() - 7 * DAY
      await read
        .insertInto('faultboard_deliveries')
        .values([
          { ...message, idempotency_key: '1', state: 'failed', created_at: week, attempted_at: week },
          { ...message, idempotency_key: '2', state: 'sent', created_at: Date.now(), attempted_at: Date.now() },
        ])
        .execute()
    })
    const { state, work } = await healthOf(host)
    expect(state).toBe('ok')
    expect(work?.deliveries.last_failures).toHaveLength(1)
    const page = await (await host.get('/health')).text()
    expect(page).toContain('Failed notifications')
    expect(page).not.toContain('Degraded')
  })

  test('reports due notifications in a process that runs no jobs', async () => {
    const url = await database.fresh()
    const host = await start(url, { run_jobs: false })
    await host.tracker.ready()
    await withDatabase(url, async ({ read }) => {
      const pending = { channel: 'webhook', event: 'new', payload: '{}', attempts: 0, state: 'pending' }
      const rows = Array.from({ length: 202 }, (_, i) => ({
        ...{ ...pending, idempotency_key: String(i), created_at: Date.now() },
        run_at: i % 2 === 0 ? 1 : Date.now() + DAY,
      }))
      await read.insertInto('faultboard_deliveries').values(rows).execute()
    })
    const { reasons, work } = await healthOf(host)
    expect(work?.deliveries).toMatchObject({ by_state: { pending: 202 }, due: 101 })
    expect(reasons.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^101 jobs and notifications are waiting.*npx faultboard work$/),
    ])
  })
})

describeEachDatabase(
  'health page without a database',
  (database) => {
    test('returns 200 with the layout, hides the password and names the spool folder', async () => {
      const proxy = await startProxy(await database.fresh())
      const host = await start(proxy.url)
      await host.tracker.Commands.LogError.call({ error_type: 'Before', message: 'x' })
      await proxy.refuse()
      const health = await healthOf(host)
      expect(health).toMatchObject({ status: 200, state: 'failing', database: { reachable: false }, work: null })
      expect(health.reasons[0]?.message).toContain(`Errors are kept in ${health.spool.folder}`)
      const response = await host.get('/health')
      const page = await response.text()
      expect(response.status).toBe(200)
      expect(page).toContain('Failing')
      expect(page).toContain('href="/error_dashboard/settings"')
      expect(page).not.toContain(decodeURIComponent(new URL(proxy.url).password))

      await proxy.open()
      await eventually(async () => (await healthOf(host)).database.reachable, 'the database is back')
    })

    test('renders with the layout while the database does not respond', async () => {
      const proxy = await startProxy(await database.fresh())
      const host = await start(proxy.url)
      // Opens idle connections, because a new connection would time out anyway.
      await Promise.all(Array.from({ length: 6 }, () => host.get('/errors')))
      proxy.hang()
      const response = await host.get('/health')
      const page = await response.text()
      expect(response.status).toBe(200)
      expect(page).toContain('no response within 3 seconds')
      expect(page).toContain('href="/error_dashboard/settings"')
      await proxy.open()
    })

    test('reports a missing migration and the command to run', async () => {
      const host = await serveTracker({ database: await database.empty(), spool_path: temporaryFolder() })
      onTestFinished(() => host.close())
      const { state, reasons, database: found } = await healthOf(host)
      expect(state).toBe('failing')
      expect(reasons[0]?.message).toContain('npx faultboard migrate')
      expect(found).toMatchObject({ reachable: true, migrations: { applied: [] } })
      expect(found.migrations?.pending).toContain('0001-initial')
    })
  },
  { except: ['sqlite'] },
)

test('shows a hint if notification_environments contains an environment without errors, once there are errors', async () => {
  const host = await startHost('sqlite::memory:', { notification_environments: ['production', 'stagin<b>'] })
  onTestFinished(() => host.close())
  expect(await host.json('/health')).toMatchObject({ hints: [] })
  await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment: 'production' })
  await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment: 'staging' })
  const hint =
    'notification_environments contains an unknown name. No error has the environment "stagin<b>". Known environments: "production", "staging"'
  expect(await host.json('/health')).toMatchObject({ hints: [hint] })
  const page = await (await host.get('/health')).text()
  expect(page).toContain('Hint: notification_environments contains an unknown name.')
  expect(page).not.toContain('stagin<b>')
})

test('reports drops with reasons, rejected files and a full spool', async () => {
  const spool_path = temporaryFolder()
  const host = await start('sqlite::memory:', { spool_path, spool_max_bytes: 1000, ignored_exceptions: ['Ignored'] })
  await host.tracker.Commands.LogError.call({ error_type: 'Ignored', message: 'x' })
  mkdirSync(spool_path, { recursive: true })
  writeFileSync(join(spool_path, 'batch-1.ndjson.failed'), 'x'.repeat(700))
  const { state, reasons, dropped, spool } = await healthOf(host)
  expect(state).toBe('degraded')
  expect(spool).toMatchObject({ failed: 1, bytes: 700, max_bytes: 1000 })
  expect(reasons.map(({ message: sentence }) => sentence)).toEqual([
    expect.stringContaining('more than half full'),
    expect.stringContaining('1 file was rejected by the database and kept'),
  ])
  expect(dropped).toEqual([{ reason: 'ignored', count: 1, text: expect.stringContaining('ignored_exceptions') }])
  const page = await (await host.get('/health')).text()
  expect(page).toContain('ignored_exceptions')
  expect(page).toContain('title="Health: degraded"')
})

test('reports a database that cannot be opened and where errors are kept', async () => {
  const host = await start('sqlite:/nowhere/at/all/errors.sqlite3')
  const { state, reasons } = await healthOf(host)
  expect(state).toBe('failing')
  expect(reasons[0]?.message).toMatch(/Cannot open \/nowhere\/at\/all\/errors\.sqlite3.*Errors are kept in/)
})

test('requires authentication for the health page', async () => {
  const host = await start('sqlite::memory:')
  expect((await fetch(`${host.origin}/error_dashboard/health.json`)).status).toBe(401)
})
