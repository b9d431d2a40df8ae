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

const SETTINGS = { enable_breadcrumbs: true, breadcrumb_categories: ['sql'] }

describeEachDatabase(
  'pg breadcrumbs',
  (database) => {
    test('records text, duration, rows and errors of every query form without values', async () => {
      const { tracker, url } = await freshTracker(database, SETTINGS)
      instrumentPg(pg, tracker)
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      const trail = await tracker.withScope(async () => {
        const result = await client.query("select 's3cr3t' as word, $1::text as other", ['s3cr3t'])
        expect(result.rows).toEqual([{ word: 's3cr3t', other: 's3cr3t' }])
        await client.query({ text: 'select generate_series(1, 3)', name: 'three' })
        await client.query({ text: 'select $1::int', values: [5], rowMode: 'array' })
        const rows = await new Promise((resolve) =>
          client.query('select 4 as four', (_error, result) => resolve(result.rows)),
        )
        expect(rows).toEqual([{ four: 4 }])
        await new Promise((resolve) => client.query('select $1::int', [1], () => resolve(null)))
        await expect(client.query('select nothing from nowhere')).rejects.toThrow('nowhere')
        const query = client.query(new pg.Query('select 6'))
        await new Promise((resolve) => query.on('end', resolve))
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

    test('adds statements to the trail of the caller of a pooled pg connection', async () => {
      const { tracker, url } = await freshTracker(database, SETTINGS)
      instrumentPg(pg, tracker)
      const pool = new pg.Pool({ connectionString: url, max: 2 })
      onTestFinished(() => pool.end())
      await expectSeparateTrails(tracker, (n) => pool.query(`select ${n} as "n${n}"`))
      await expectSeparateTrails(
        tracker,
        (n) =>
          new Promise((resolve, reject) =>
            pool.query(`select ${n} as "n${n}"`, [], (error, result) => (error ? reject(error) : resolve(result))),
          ),
      )
    })

    test('does not change unhandled rejections or error events', async () => {
      const { tracker, url } = await freshTracker(database, SETTINGS)
      instrumentPg(pg, tracker)
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      const unhandled = new Promise((resolve) => {
        // Vitest would report the rejection as a failure of the test.
        const listeners = process.listeners('unhandledRejection')
        process.removeAllListeners('unhandledRejection')
        process.once('unhandledRejection', (reason) => {
          for (const listener of listeners) process.on('unhandledRejection', listener)
          resolve(reason)
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

    test('restores the methods of pg when the tracker shuts down, and wraps nothing without enable_breadcrumbs', async () => {
      const methods = () => [pg.Client.prototype.query, pg.Pool.prototype.query, pg.Pool.prototype.connect]
      const originalMethods = methods()
      const { tracker: disabledTracker } = await freshTracker(database)
      instrumentPg(pg, disabledTracker)
      expect(methods()).toEqual(originalMethods)
      const { tracker } = await freshTracker(database, SETTINGS)
      const restore = instrumentPg(pg, tracker)
      expect(pg.Client.prototype.query).not.toBe(originalMethods[0])
      restore()
      expect(methods()).toEqual(originalMethods)
      instrumentPg(pg, tracker)
      await tracker.shutdown()
      expect(methods()).toEqual(originalMethods)
      expect(Object.hasOwn(pg.Pool.prototype, 'query')).toBe(false)
    })

    test("omits the tracker's own statements on its own pool and on the host's pool of pg", async () => {
      const { tracker, url } = await freshTracker(database, SETTINGS)
      instrumentPg(pg, tracker)
      expect(await trackerTrail(tracker)).toEqual([])
      const pool = new pg.Pool({ connectionString: url })
      onTestFinished(() => pool.end())
      const { tracker: guestTracker } = await freshTracker(database, { ...SETTINGS, database: pool })
      instrumentPg(pg, guestTracker)
      expect(await trackerTrail(guestTracker)).toEqual([])
      await guestTracker.withScope(async () => {
        await pool.query('select 1')
        expect(await recordedBreadcrumbs(guestTracker)).toHaveLength(1)
      })
    })
  },
  { except: ['sqlite', 'mysql'] },
)

describeEachDatabase(
  'mysql2 breadcrumbs',
  (database) => {
    test('records text, duration, rows and errors without values', async () => {
      const { tracker, url } = await freshTracker(database, SETTINGS)
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

    test('adds statements to the trail of the caller of a pooled mysql2 connection', async () => {
      const { tracker, url } = await freshTracker(database, SETTINGS)
      instrumentMysql2(tracker)
      const pool = createPool({ uri: url, connectionLimit: 2 })
      onTestFinished(() => pool.end())
      await expectSeparateTrails(tracker, (n) => pool.query(`select ${n} as \`n${n}\``))
    })

    test("omits the tracker's own statements on its own pool and on the host's pool of mysql2", async () => {
      const { tracker, url } = await freshTracker(database, SETTINGS)
      instrumentMysql2(tracker)
      expect(hasSubscribers('tracing:mysql2:query:start')).toBe(true)
      expect(await trackerTrail(tracker)).toEqual([])
      const pool = createPool(url)
      onTestFinished(() => pool.end())
      const { tracker: guestTracker } = await freshTracker(database, { ...SETTINGS, database: pool.pool })
      instrumentMysql2(guestTracker)
      expect(await trackerTrail(guestTracker)).toEqual([])
      await guestTracker.withScope(async () => {
        await pool.query('select 1')
        expect(await recordedBreadcrumbs(guestTracker)).toHaveLength(1)
      })
    })
  },
  { except: ['sqlite', 'postgres'] },
)

/** Breadcrumbs added while the tracker itself writes, reads and cleans up. */
async function trackerTrail(tracker: TrackerInstance) {
  return tracker.withScope(async () => {
    await recordedBreadcrumbs(tracker)
    await tracker.Queries.ErrorsList.call()
    await tracker.Queries.DashboardStats.call()
    await tracker.Commands.CleanupErrors.call()
    return recordedBreadcrumbs(tracker)
  })
}

async function expectSeparateTrails(
  tracker: TrackerInstance,
  runQuery: (n: number) => Promise<unknown>,
): Promise<void> {
  const trails = await Promise.all(
    // More callers than connections. With 30, some waited longer than the connection timeout of the tracker.
    Array.from({ length: 10 }, (_, n) =>
      tracker.withScope(async () => {
        for (let i = 0; i < 3; i++) await runQuery(n)
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
