import { hasSubscribers } from 'node:diagnostics_channel'
import { createConnection, createPool } from 'mysql2/promise'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { instrumentMysql2 } from '../../../src/subscribers/mysql2.js'
import { instrumentPg } from '../../../src/subscribers/pg.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker } from '../../support/tracker.js'
import { recordedBreadcrumbs } from '../../support/trails.js'

const ON = { enable_breadcrumbs: true, breadcrumb_categories: ['sql'] }

describeEachDatabase(
  'breadcrumbs of pg',
  (database) => {
    test('record text, duration, rows and errors of every query form without values', async () => {
      const { tracker, url } = await freshTracker(database, ON)
      instrumentPg(pg, tracker)
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      const trail = await tracker.withScope(async () => {
        const answer = await client.query("select 's3cr3t' as word, $1::text as other", ['s3cr3t'])
        expect(answer.rows).toEqual([{ word: 's3cr3t', other: 's3cr3t' }])
        await client.query({ text: 'select generate_series(1, 3)', name: 'three' })
        await client.query({ text: 'select $1::int', values: [5], rowMode: 'array' })
        const called = await new Promise((done) =>
          client.query('select 4 as four', (_error, result) => done(result.rows)),
        )
        expect(called).toEqual([{ four: 4 }])
        await new Promise((done) => client.query('select $1::int', [1], () => done(null)))
        await expect(client.query('select nothing from nowhere')).rejects.toThrow('nowhere')
        const query = client.query(new pg.Query('select 6'))
        await new Promise((done) => query.on('end', done))
        return recordedBreadcrumbs(tracker)
      })
      expect(trail.map(({ message, metadata }) => [message, metadata])).toEqual([
        ['select ? as word, $1::text as other', { system: 'postgres', rows: 1 }],
        ['select generate_series(?, ?)', { system: 'postgres', rows: 3 }],
        ['select $1::int', { system: 'postgres', rows: 1 }],
        ['select ? as four', { system: 'postgres', rows: 1 }],
        ['select $1::int', { system: 'postgres', rows: 1 }],
        ['select nothing from nowhere', { system: 'postgres', error: '42P01' }],
        ['select ?', { system: 'postgres' }],
      ])
      for (const { category, duration_ms } of trail) expect([category, typeof duration_ms]).toEqual(['sql', 'number'])
    })

    test('are added to the trail of the caller of a pooled connection', async () => {
      const { tracker, url } = await freshTracker(database, ON)
      instrumentPg(pg, tracker)
      const pool = new pg.Pool({ connectionString: url, max: 2 })
      onTestFinished(() => pool.end())
      await eachFindsItsOwn(tracker, (n) => pool.query(`select ${n} as "n${n}"`))
      await eachFindsItsOwn(
        tracker,
        (n) =>
          new Promise((done, fail) =>
            pool.query(`select ${n} as "n${n}"`, [], (error, result) => (error ? fail(error) : done(result))),
          ),
      )
    })

    test('do not change unhandled rejections or error events', async () => {
      const { tracker, url } = await freshTracker(database, ON)
      instrumentPg(pg, tracker)
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      const unhandled = new Promise((done) => {
        // vitest would take the rejection for a failure of the test.
        const others = process.listeners('unhandledRejection')
        process.removeAllListeners('unhandledRejection')
        process.once('unhandledRejection', (reason) => {
          for (const other of others) process.on('unhandledRejection', other)
          done(reason)
        })
      })
      void client.query('select broken')
      expect(await unhandled).toMatchObject({ code: '42703' })
      expect(() => client.query(null as never)).toThrow(TypeError)
      const failing = new pg.Query('select broken')
      client.query(failing)
      expect(failing.listenerCount('error')).toBe(0)
      failing.on('error', () => {})
      await client.query('select 1')
    })

    test('are put back by the function and by a shutdown, and are never there without enable_breadcrumbs', async () => {
      const methods = () => [pg.Client.prototype.query, pg.Pool.prototype.query, pg.Pool.prototype.connect]
      const untouched = methods()
      const { tracker: off } = await freshTracker(database)
      instrumentPg(pg, off)
      expect(methods()).toEqual(untouched)
      const { tracker } = await freshTracker(database, ON)
      const putBack = instrumentPg(pg, tracker)
      expect(pg.Client.prototype.query).not.toBe(untouched[0])
      putBack()
      expect(methods()).toEqual(untouched)
      instrumentPg(pg, tracker)
      await tracker.shutdown()
      expect(methods()).toEqual(untouched)
      expect(Object.hasOwn(pg.Pool.prototype, 'query')).toBe(false)
    })

    test("leave out the tracker's own statements, on a pool of its own and on the host's", async () => {
      const { tracker, url } = await freshTracker(database, ON)
      instrumentPg(pg, tracker)
      expect(await ownTrail(tracker)).toEqual([])
      const pool = new pg.Pool({ connectionString: url })
      onTestFinished(() => pool.end())
      const { tracker: lodger } = await freshTracker(database, { ...ON, database: pool })
      instrumentPg(pg, lodger)
      expect(await ownTrail(lodger)).toEqual([])
      await lodger.withScope(async () => {
        await pool.query('select 1')
        expect(await recordedBreadcrumbs(lodger)).toHaveLength(1)
      })
    })
  },
  { except: ['sqlite', 'mysql'] },
)

describeEachDatabase(
  'breadcrumbs of mysql2',
  (database) => {
    test('record text, duration, rows and errors without values', async () => {
      const { tracker, url } = await freshTracker(database, ON)
      instrumentMysql2(tracker)
      const connection = await createConnection(url)
      onTestFinished(() => connection.end())
      const trail = await tracker.withScope(async () => {
        await connection.query('select ? as word', ['s3cr3t'])
        await connection.execute('select ? as word union select 2', ["it's s3cr3t"])
        await expect(connection.query('select nothing from nowhere')).rejects.toThrow('nowhere')
        await expect(connection.execute('select nothing from nowhere')).rejects.toThrow('nowhere')
        return recordedBreadcrumbs(tracker)
      })
      expect(trail.map(({ message, metadata }) => [message, metadata])).toEqual([
        ['select ? as word', { system: 'mysql', rows: 1 }],
        ['select ? as word union select ?', { system: 'mysql', rows: 2 }],
        ['select nothing from nowhere', { system: 'mysql', error: 'ER_NO_SUCH_TABLE' }],
        ['select nothing from nowhere', { system: 'mysql', error: 'ER_NO_SUCH_TABLE' }],
      ])
      for (const { duration_ms } of trail) expect(duration_ms).toEqual(expect.any(Number))
    })

    test('are added to the trail of the caller of a pooled connection', async () => {
      const { tracker, url } = await freshTracker(database, ON)
      instrumentMysql2(tracker)
      const pool = createPool({ uri: url, connectionLimit: 2 })
      onTestFinished(() => pool.end())
      await eachFindsItsOwn(tracker, (n) => pool.query(`select ${n} as \`n${n}\``))
    })

    test("leave out the tracker's own statements, on a pool of its own and on the host's", async () => {
      const { tracker, url } = await freshTracker(database, ON)
      instrumentMysql2(tracker)
      expect(hasSubscribers('tracing:mysql2:query:start')).toBe(true)
      expect(await ownTrail(tracker)).toEqual([])
      const pool = createPool(url)
      onTestFinished(() => pool.end())
      const { tracker: lodger } = await freshTracker(database, { ...ON, database: pool.pool })
      instrumentMysql2(lodger)
      expect(await ownTrail(lodger)).toEqual([])
      await lodger.withScope(async () => {
        await pool.query('select 1')
        expect(await recordedBreadcrumbs(lodger)).toHaveLength(1)
      })
    })
  },
  { except: ['sqlite', 'postgres'] },
)

/** What the tracker itself leaves in a trail while it writes, reads and cleans up. */
async function ownTrail(tracker: TrackerInstance) {
  return tracker.withScope(async () => {
    await recordedBreadcrumbs(tracker)
    await tracker.Queries.ErrorsList.call()
    await tracker.Queries.DashboardStats.call()
    await tracker.Commands.CleanupErrors.call()
    return recordedBreadcrumbs(tracker)
  })
}

async function eachFindsItsOwn(tracker: TrackerInstance, ask: (n: number) => Promise<unknown>): Promise<void> {
  const trails = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      tracker.withScope(async () => {
        for (let i = 0; i < 3; i++) await ask(n)
        return recordedBreadcrumbs(tracker)
      }),
    ),
  )
  trails.forEach((trail, n) => {
    expect(trail).toHaveLength(3)
    for (const { message, duration_ms } of trail) {
      expect(message).toMatch(new RegExp(`^select \\? as ["\`]n${n}["\`]$`))
      expect(duration_ms).toEqual(expect.any(Number))
    }
  })
}
