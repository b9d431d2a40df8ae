import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { faultyDatabase } from '../../support/databases/outage.js'
import { startProxy } from '../../support/databases/proxy.js'
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { runChild, startChild } from '../../support/processes/children.js'
import { blockThreadPool } from '../../support/processes/thread-pool.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import {
  CREDENTIALS,
  eventually,
  freshStorage,
  spoolIsEmpty,
  type TestTracker,
  trackerAt,
  withDatabase,
} from '../../support/tracker.js'

describeEachDatabase('a database that recovers under load', (database) => {
  // The second outage verifies that the first left no state, which async_logging does not affect.
  for (const { async_logging, outages } of [
    { async_logging: false, outages: 2 },
    { async_logging: true, outages: 1 },
  ]) {
    const title = `counts every acknowledged error and leaves no spool file, with async_logging ${async_logging}`
    test(title, { timeout: 120_000 }, async () => {
      const { storage, startFault, endFault } = await faultyDatabase(database)
      const { tracker } = trackerAt(storage, { async_logging, max_full_occurrences_per_minute: 100_000 })
      await tracker.ready()
      const load = startLoad(tracker)
      for (let outage = 1; outage <= outages; outage++) {
        await startFault()
        await eventually(async () => (await tracker.stats()).unavailable_since !== null, 'the outage is noticed')
        await load.atLeast(20)
        await endFault()
        await eventually(async () => (await tracker.stats()).unavailable_since === null, 'the database is back')
        // The files of the outage are imported while further errors arrive.
        const waiting = new Set(readdirSync(storage.spool_path).map(batchName))
        await eventually(
          () => !readdirSync(storage.spool_path).some((name) => waiting.has(batchName(name))),
          'the files of the outage are imported',
        )
      }
      const acknowledged = await load.stop()
      await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
      await tracker.flush()
      const { users } = await verifiedCounts(storage.url)
      expect(Object.keys(users)).toHaveLength(acknowledged)
      expect(new Set(Object.values(users))).toEqual(new Set([1]))
    })
  }
})

describeEachDatabase('a database that recovers while a spool file is being written', (database) => {
  for (const async_logging of [false, true]) {
    const title = `counts the errors of the file without a restart, with async_logging ${async_logging}`
    test(title, { timeout: 120_000 }, async () => {
      const { storage, url, startFault, endFault } = await faultyDatabase(database)
      const { tracker } = trackerAt(storage, { async_logging })
      await record(tracker, 'Before')
      await tracker.flush()
      await startFault()
      await record(tracker, 'During')
      await eventually(async () => (await tracker.stats()).unavailable_since !== null, 'the outage is noticed')
      const pool = blockThreadPool()
      const last = record(tracker, 'Last')
      await eventually(() => pool.waiting() > 0, 'the file of the last error is being written')
      const writing = pool.waiting()
      await endFault()
      await eventually(() => pool.waiting() > writing, 'the import lists the folder')
      pool.release()
      expect(await last).not.toBeNull()
      await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
      await tracker.flush()
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Before': 1, 'shop During': 1, 'shop Last': 1 })
    })
  }
})

describeEachDatabase('a running process', (database) => {
  test('imports the files of a process that was killed during an outage', { timeout: 60_000 }, async () => {
    const { storage, startFault, endFault, url } = await faultyDatabase(database)
    const { tracker } = trackerAt(storage)
    await tracker.ready()
    await startFault()
    const child = startChild('record', {
      settings: { ...CREDENTIALS, database: storage.url, spool_path: storage.spool_path, application_name: 'shop' },
      events: Array.from({ length: 500 }, (_, i) => ({ error_type: 'Killed', message: 'x', user_id: `${i}` })),
      ...{ at_a_time: 1, acknowledge: true },
    })
    const settled = () => child.lines.filter((line) => line.startsWith('settled'))
    await eventually(() => settled().length > 5, 'errors were acknowledged')
    child.process.kill('SIGKILL')
    await child.exited
    await endFault()
    await eventually(() => spoolIsEmpty(tracker), 'the files of the killed process are imported')
    const { users } = await verifiedCounts(url)
    for (const line of settled()) expect(users[`Killed ${line.split(' ')[1]}`]).toBe(1)
    expect(new Set(Object.values(users))).toEqual(new Set([1]))
  })

  test('imports files that another process leaves while the database is reachable', { timeout: 60_000 }, async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage)
    await tracker.ready()
    await tracker.flush()
    const nowhere = database.dialect === 'sqlite' ? 'sqlite:/nowhere/at/all.sqlite3' : 'postgres://a:b@127.0.0.1:9/none'
    const settings = { ...CREDENTIALS, database: nowhere, spool_path: storage.spool_path, application_name: 'shop' }
    await runChild('one-error', { settings, events: [{ error_type: 'Left', message: 'behind' }] })
    await eventually(() => spoolIsEmpty(tracker), 'the file is imported')
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Left': 1 })
  })
})

describeServers('an unresponsive connection', (database) => {
  test('an unresponsive connection is replaced, and every error counts once after the server recovers', {
    timeout: 90_000,
  }, async () => {
    const { storage, url, startFault, endFault } = await faultyDatabase(database, 'blackhole')
    const { tracker } = trackerAt(storage)
    await record(tracker, 'Before')
    await startFault()
    expect((await record(tracker, 'During'))?.state).toBe('spooled')
    // Probes hang too while the server does not respond.
    await pause(2000)
    await endFault()
    await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Before': 1, 'shop During': 1 })
  })
})

describeServers('closing all connections', (database) => {
  test('rejects pending queries when all connections are closed', async () => {
    const { url } = await freshStorage(database)
    const proxy = await startProxy(url)
    await withDatabase(proxy.url, async ({ read, dialect }) => {
      const query = () => read.selectFrom('faultboard_batches').selectAll().execute()
      await Promise.all([query(), query()])
      proxy.blackhole()
      const waiting = Promise.allSettled([query(), query()])
      expect(dialect.closeConnections()).toBe(true)
      expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      await proxy.open()
      expect(await query()).toEqual([])
    })
  })
})

describeServers('recording on a server with 200 ms per packet', (database) => {
  for (const async_logging of [false, true]) {
    test(`counts every error once, with async_logging ${async_logging}`, { timeout: 120_000 }, async () => {
      const { url, spool_path } = await freshStorage(database)
      const proxy = await startProxy(url)
      const { tracker } = trackerAt({ url: proxy.url, spool_path }, { async_logging })
      await record(tracker, 'Slow')
      proxy.delay(200)
      for (let i = 0; i < 2; i++) await record(tracker, 'Slow')
      await proxy.open()
      await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
      await tracker.flush()
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Slow': 3 })
    })
  }

  test('detects that a slow server is available after an outage', { timeout: 120_000 }, async () => {
    const { url, spool_path } = await freshStorage(database)
    const proxy = await startProxy(url)
    const { tracker } = trackerAt({ url: proxy.url, spool_path })
    await record(tracker, 'Slow')
    await proxy.refuse()
    expect((await record(tracker, 'Slow'))?.state).toBe('spooled')
    await proxy.open()
    proxy.delay(200)
    await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Slow': 2 })
  })
})

describeServers('recording with a connection reset before the commit', (database) => {
  for (const async_logging of [false, true]) {
    test(`counts every error once after the reset, with async_logging ${async_logging}`, async () => {
      const { url, spool_path } = await freshStorage(database)
      const proxy = await startProxy(url)
      const { tracker } = trackerAt({ url: proxy.url, spool_path }, { async_logging })
      await record(tracker, 'Reset')
      await tracker.flush()
      proxy.resetNextCommit()
      expect((await record(tracker, 'Reset'))?.state).toBe(async_logging ? 'accepted' : 'spooled')
      await eventually(() => proxy.interruptedCommits() === 1, 'the connection was reset')
      await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
      await tracker.flush()
      expect((await verifiedCounts(url)).counts).toEqual({ 'shop Reset': 2 })
    })
  }
})

/** Records errors sequentially, each with a unique user, until it is stopped. */
function startLoad(tracker: TestTracker['tracker']) {
  let isRunning = true
  let acknowledged = 0
  const run = async (lane: number) => {
    for (let i = 0; isRunning; i++) {
      const event = { error_type: `Load${lane}`, message: 'under load', user_id: `${lane}-${i}` }
      if ((await tracker.Commands.LogError.call(event)) !== null) acknowledged++
      await pause(10)
    }
  }
  const lanes = [run(0), run(1)]
  onTestFinished(() => {
    isRunning = false
  })
  return {
    async atLeast(count: number) {
      const before = acknowledged
      await eventually(() => acknowledged >= before + count, `${count} more errors were acknowledged`)
    },
    async stop() {
      isRunning = false
      await Promise.all(lanes)
      return acknowledged
    },
  }
}

function batchName(name: string): string {
  return name.replace(/\.importing-.*$/, '')
}

function record(tracker: TestTracker['tracker'], error_type: string) {
  return tracker.Commands.LogError.call({ error_type, message: 'fault' })
}

function describeServers(title: string, body: (database: TestDatabase) => void): void {
  describeEachDatabase(title, body, { except: ['sqlite'] })
}
