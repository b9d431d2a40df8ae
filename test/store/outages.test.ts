import { expect, test } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { faultyDatabase } from '../support/databases/outage.js'
import { startProxy } from '../support/databases/proxy.js'
import { describeEachDatabase, type TestDatabase } from '../support/databases.js'
import { startChild } from '../support/processes/children.js'
import { sums, verifiedCounts } from '../support/stored-counts.js'
import {
  CREDENTIALS,
  eventually,
  freshStorage,
  spoolIsEmpty,
  type TestTracker,
  temporaryFolder,
  trackerAt,
  withDatabase,
} from '../support/tracker.js'

const EVENTS = 300

describeEachDatabase('recording during a database outage', (database) => {
  test('spools errors and imports each once after the recovery', { timeout: 60_000 }, async () => {
    const { storage, startFault, endFault } = await faultyDatabase(database)
    const { tracker, lines, clock } = trackerAt(storage)
    clock.now = null
    await record({ tracker }, 'Before')
    await startFault()

    const during = await record({ tracker }, 'During', EVENTS)
    expect(
      sums(
        during,
        (logged) => logged?.state ?? 'null',
        () => 1,
      ),
    ).toEqual({ spooled: EVENTS })
    const { spool, unavailable_since } = await tracker.stats()
    expect(spool.files).toBeGreaterThan(0)
    expect(unavailable_since).not.toBeNull()
    expect(lines.filter((line) => line.includes('Errors are written to'))).toHaveLength(1)

    await endFault()
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    const [after] = await record({ tracker }, 'After')
    expect(after?.state).toBe('recorded')
    expect((await verifiedCounts(storage.url)).counts).toEqual({
      'shop Before': 1,
      'shop During': EVENTS,
      'shop After': 1,
    })
    expect(lines.filter((line) => line.includes('The database is available again'))).toHaveLength(1)
    expect(lines).toHaveLength(3)
  })

  test('spools errors of a tracker that starts during the outage and imports them automatically', {
    timeout: 60_000,
  }, async () => {
    const { storage, startFault, endFault } = await faultyDatabase(database)
    await startFault()
    const { tracker, lines, clock } = trackerAt(storage)
    clock.now = null
    const logged = await record({ tracker }, 'Early', EVENTS)
    expect(
      sums(
        logged,
        (record) => record?.state ?? 'null',
        () => 1,
      ),
    ).toEqual({ spooled: EVENTS })
    expect(lines).toHaveLength(2)
    await endFault()
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Early': EVENTS })
  })
})

describeEachDatabase(
  'a database that accepts reads but no writes',
  (database) => {
    test('a read-only database counts as unavailable until a write succeeds, and all errors are spooled', {
      timeout: 60_000,
    }, async () => {
      const { storage, startFault, endFault } = await readOnly(database)
      await startFault()
      const { tracker } = trackerAt(storage)
      await tracker.ready()
      expect((await record({ tracker }, 'First'))[0]?.state).toBe('spooled')
      for (let second = 1; second <= 4; second++) {
        await new Promise((resume) => setTimeout(resume, 1000))
        expect((await record({ tracker }, 'Later'))[0]?.state).toBe('spooled')
      }
      expect((await tracker.stats()).dropped.database_unavailable).toBe(1)
      await endFault()
      await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
      expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop First': 1, 'shop Later': 4 })
    })
  },
  // Read-only mode affects a whole MySQL server, which other tests use.
  { except: ['mysql'] },
)

describeEachDatabase('a database that accepts the probe but no errors', (database) => {
  test('a database that accepts only the probe counts as unavailable until it accepts a spooled error', {
    timeout: 60_000,
  }, async () => {
    const storage = await freshStorage(database)
    const rename = (from: string, to: string) =>
      withDatabase(storage.url, ({ read }) => sql.raw(`alter table ${from} rename to ${to}`).execute(read))
    await rename('faultboard_error_hours', 'hidden_hours')
    const { tracker } = trackerAt(storage)
    await tracker.ready()
    expect((await record({ tracker }, 'Hidden'))[0]?.state).toBe('spooled')
    // Enough time for two probes, which the database accepts.
    await new Promise((resume) => setTimeout(resume, 4000))
    expect((await record({ tracker }, 'Hidden'))[0]?.state).toBe('spooled')
    expect((await tracker.stats()).dropped.database_unavailable).toBe(1)
    await rename('hidden_hours', 'faultboard_error_hours')
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Hidden': 2 })
  })
})

describeServers('a server that does not respond', (database) => {
  test('a hanging server delays the caller for a limited time, and every error counts once after it responds again', {
    timeout: 90_000,
  }, async () => {
    const { url, spool_path } = await freshStorage(database)
    const proxy = await startProxy(url)
    const { tracker, lines } = trackerAt({ url: proxy.url, spool_path })
    await record({ tracker }, 'Before')
    proxy.hang()
    const settings = { ...CREDENTIALS, database: proxy.url, spool_path: temporaryFolder() }
    const child = startChild('one-error', { settings, events: [{ error_type: 'Child', message: 'alone' }] })
    const [during] = await record({ tracker }, 'Silent', 1)
    expect(during?.state).toBe('spooled')
    expect(lines.join()).toContain('did not respond within')
    expect(lines.join()).not.toContain(new URL(url).password)
    expect(await child.exited).toBe(0)
    expect(JSON.parse(child.lines[0] ?? '')).toMatchObject({ state: 'spooled' })
    await proxy.open()
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Before': 1, 'shop Silent': 1 })
  })
})

describeServers('recording over a connection that breaks', (database) => {
  for (const async_logging of [false, true]) {
    test(`counts every error once if the connection breaks between commit and response, with async_logging ${async_logging}`, async () => {
      const { url, spool_path } = await freshStorage(database)
      const proxy = await startProxy(url)
      const { tracker } = trackerAt({ url: proxy.url, spool_path }, { async_logging })
      await record({ tracker }, 'Unclear')
      await tracker.flush()
      proxy.cutNextCommit()
      const [logged] = await record({ tracker }, 'Unclear')
      expect(logged?.state).toBe(async_logging ? 'accepted' : 'spooled')
      await eventually(() => proxy.interruptedCommits() === 1, 'the commit was cut')
      // The server had committed, so the spooled errors are also in the database.
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Unclear': 2 })
      await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
      await tracker.flush()
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Unclear': 2 })
    })
  }

  test('counts every error once if the connection breaks repeatedly during a storm', { timeout: 90_000 }, async () => {
    const { url, spool_path } = await freshStorage(database)
    const proxy = await startProxy(url)
    const { tracker } = trackerAt({ url: proxy.url, spool_path })
    await tracker.ready()
    const states: Record<string, number> = {}
    for (let round = 0; round < 2; round++) {
      if (round % 2 === 0) proxy.cutNextCommit()
      const storm = Array.from({ length: 20 }, (_, i) => record({ tracker }, `Storm${i % 3}`, 25, `${round}-${i}`))
      if (round % 2 === 1) {
        await new Promise((resume) => setImmediate(resume))
        await proxy.refuse()
        await proxy.open()
      }
      for (const logged of (await Promise.all(storm)).flat()) {
        const state = logged?.state ?? 'null'
        states[state] = (states[state] ?? 0) + 1
      }
      await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    }
    expect(states.null).toBeUndefined()
    const { counts, users } = await verifiedCounts(url)
    expect(sums(Object.values(counts), () => 'all', Number)).toEqual({ all: 2 * 20 * 25 })
    expect(new Set(Object.values(users))).toEqual(new Set([25]))
  })
})

/** Locks SQLite from another process, and makes PostgreSQL read-only like a standby. */
async function readOnly(database: TestDatabase) {
  if (database.dialect === 'sqlite') return faultyDatabase(database)
  const storage = await freshStorage(database)
  const name = new URL(storage.url).pathname.slice(1)
  const set = (value: string) =>
    withDatabase(storage.url, async ({ read }) => {
      await read.connection().execute(async (connection) => {
        await sql`set default_transaction_read_only = off`.execute(connection)
        await sql.raw(`alter database "${name}" set default_transaction_read_only = ${value}`).execute(connection)
        // A session keeps its initial setting.
        await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = ${name} and pid <> pg_backend_pid()`.execute(connection)
      })
    })
  return { storage, startFault: () => set('on'), endFault: () => set('off') }
}

function describeServers(title: string, body: (database: TestDatabase) => void): void {
  // SQLite has no network connection.
  describeEachDatabase(title, body, { except: ['sqlite'] })
}

function record({ tracker }: Pick<TestTracker, 'tracker'>, error_type: string, times = 1, user_id?: string) {
  return Promise.all(
    Array.from({ length: times }, () => tracker.Commands.LogError.call({ error_type, message: 'storm', user_id })),
  )
}
