import { createPool } from 'mysql2'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Counters } from '../../../src/model/counters.js'
import type { ErrorEvent } from '../../../src/model/event.js'
import { createDatabase } from '../../../src/store/database.js'
import type { Batch } from '../../../src/store/recording/batch.js'
import { BatchWriter } from '../../../src/store/recording/batch-writer.js'
import { FoldedGroup } from '../../../src/store/recording/folded-group.js'
import { Spool } from '../../../src/store/spool/spool.js'
import { NO_OUTBOX } from '../../support/databases/no-outbox.js'
import { startProxy } from '../../support/databases/proxy.js'
import { type Dialect, describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { freshStorage, NOON, temporaryFolder } from '../../support/tracker.js'

/** Timeout of a query. */
const QUERY_TIMEOUT_MS = 3000
/** Timeout of a ping. */
const PING_TIMEOUT_MS = 1000
const CONNECTIONS = 5

describeServers('a connection whose packets were lost', (database) => {
  for (const owner of ['the tracker', 'the host'] as const) {
    describe(`of a pool of ${owner}`, () => {
      test('a connection whose packets were lost is abandoned after three seconds, and its batch is counted once', async () => {
        const { proxy, url, pool, writer } = await writerBehindProxy(database, owner)
        await writer.write(batch('first'))
        await pool?.use(CONNECTIONS)
        fakeTimeouts()

        proxy.blackhole()
        const outcome = Promise.allSettled([writer.write(batch('second'))])
        await turns()
        // The network recovers while the write hangs.
        await proxy.open()
        await vi.advanceTimersByTimeAsync(QUERY_TIMEOUT_MS)
        expect(await outcome).toMatchObject([{ status: 'rejected' }])
        await vi.advanceTimersByTimeAsync(PING_TIMEOUT_MS)
        vi.useRealTimers()

        expect(await writer.isAvailable()).toBe(true)
        await writer.write({ ...batch('second'), mayBeCommitted: true })
        expect((await verifiedCounts(url)).counts).toEqual({ 'shop Lost': 2 })
        // The dead connections of the host were replaced too.
        await pool?.use(CONNECTIONS)
      })

      test('counts the batch once when only the response to the commit was lost', async () => {
        const { proxy, url, writer } = await writerBehindProxy(database, owner)
        await writer.write(batch('first'))
        proxy.loseNextCommitResponse()
        fakeTimeouts()
        const outcome = Promise.allSettled([writer.write(batch('second'))])
        await turnsUntil(() => proxy.interruptedCommits() === 1)
        await vi.advanceTimersByTimeAsync(QUERY_TIMEOUT_MS)
        expect(await outcome).toMatchObject([{ status: 'rejected' }])
        vi.useRealTimers()
        expect(await writer.write({ ...batch('second'), mayBeCommitted: true })).toMatchObject({ duplicate: true })
        expect((await verifiedCounts(url)).counts).toEqual({ 'shop Lost': 2 })
      })
    })
  }
})

describeServers('a pool of the host', (database) => {
  test('a pool of the host is bypassed while it returns no connection', async () => {
    const { proxy, url, pool, writer } = await writerBehindProxy(database, 'the host')
    proxy.blackhole()
    fakeTimeouts()
    const isAvailable = writer.isAvailable()
    await turns()
    await vi.advanceTimersByTimeAsync(QUERY_TIMEOUT_MS)
    expect(await isAvailable).toBe(false)
    vi.useRealTimers()
    await proxy.open()
    // The connection attempt of the pool hangs, because its packets were lost.
    expect(await writer.isAvailable()).toBe(true)
    await writer.write(batch('first'))
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Lost': 1 })
    await pool?.use(1)
  })
})

async function writerBehindProxy(database: TestDatabase, owner: 'the tracker' | 'the host') {
  const { url } = await freshStorage(database)
  const proxy = await startProxy(url)
  const pool = owner === 'the host' ? HOST_POOLS[database.dialect as Exclude<Dialect, 'sqlite'>](proxy.url) : null
  const option = createDatabase(pool?.pool ?? proxy.url, process.cwd())
  onTestFinished(() => option.close())
  const writer = new BatchWriter({
    ...{ database: option, spool: new Spool(temporaryFolder(), 10_000_000), counters: new Counters() },
    ...{ outbox: NO_OUTBOX, application_name: 'shop', max_occurrences_per_error: 100, now: () => NOON },
    open: async () => {},
    warn() {},
  })
  return { proxy, url, pool, writer }
}

const HOST_POOLS = {
  postgres(url: string) {
    const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
    pool.on('error', () => {})
    return { pool, use: (count: number) => inParallel(count, () => pool.query('select pg_sleep(0.1)')) }
  },
  mysql(url: string) {
    const pool = createPool({ uri: url, connectionLimit: CONNECTIONS })
    return { pool, use: (count: number) => inParallel(count, () => pool.promise().query('select sleep(0.1)')) }
  },
}

function inParallel(count: number, work: () => Promise<unknown>): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, work))
}

function batch(batch_id: string): Batch {
  const event: ErrorEvent = {
    ...{ hash_signature: 'a'.repeat(64), environment: 'test', error_type: 'Lost', message: 'packets' },
    ...{ severity: 'low', place: null },
    ...{ backtrace: [], causes: [], platform: 'API', app_version: null, git_sha: null, user_id: null },
    ...{ request_url: null, ip_address: null, user_agent: null, context: {}, occurred_at: NOON },
  }
  const group = new FoldedGroup(event)
  group.add(event, 100)
  return { batch_id, application_name: 'shop', groups: [group], mayBeCommitted: false }
}

function fakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Lets sockets send and receive while timers are fake. */
async function turns(): Promise<void> {
  let left = 200
  await turnsUntil(() => left-- === 0)
}

async function turnsUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resume) => setImmediate(resume))
}

function describeServers(title: string, body: (database: TestDatabase) => void): void {
  describeEachDatabase(title, body, { except: ['sqlite'] })
}
