import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { breadcrumbStatement } from '../../../src/model/sql/breadcrumb-statement.js'
import { StatementRepeats } from '../../../src/model/sql/statement-repeats.js'
import type { Settings } from '../../../src/options.js'
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { freshTracker, withDatabase } from '../../support/tracker.js'

const ON: Settings = { enable_breadcrumbs: true, detect_n_plus_one_queries: true }

async function watching(database: TestDatabase, settings: Settings = {}) {
  const { tracker, url } = await freshTracker(database, { ...ON, ...settings })
  const runStatements = (times: number, message = 'select * from users where id = 7') => {
    for (let i = 0; i < times; i++) tracker.addBreadcrumb({ category: 'sql', message, duration_ms: 2 })
  }
  const rows = async () => {
    await tracker.flush()
    return withDatabase(url, ({ read }) =>
      read.selectFrom('faultboard_repeated_statement_hours').selectAll().orderBy('statement').execute(),
    )
  }
  return { tracker, runStatements, rows }
}

const STATEMENT = 'select * from users where id = ?'

describeEachDatabase(
  'repeated statements',
  (database) => {
    test('repeated statements are counted when the scope ends', async () => {
      const { tracker, runStatements, rows } = await watching(database)
      expect(tracker.withScope(() => runStatements(6))).toBeUndefined()
      await tracker.withScope(async () => runStatements(7))
      const failed = new Error('failed')
      expect(() =>
        tracker.withScope(() => {
          runStatements(8)
          throw failed
        }),
      ).toThrow(failed)
      await expect(
        tracker.withScope(async () => {
          runStatements(9)
          throw failed
        }),
      ).rejects.toBe(failed)
      const sums = { request_count: 4, statement_count: 30, worst_count: 9, duration_ms: 60 }
      const all = await rows()
      expect(all.map(({ statement }) => statement)).toEqual(Array(all.length).fill(STATEMENT))
      for (const [name, sum] of Object.entries(sums)) {
        const values = all.map((row) => Number(row[name as keyof typeof sums]))
        expect(name === 'worst_count' ? Math.max(...values) : values.reduce((a, b) => a + b), name).toBe(sum)
      }
    })

    test('repeated statements are not counted below the threshold, far apart or in a transaction', async () => {
      const { tracker, runStatements, rows } = await watching(database, { n_plus_one_threshold: 3 })
      tracker.withScope(() => {
        runStatements(2)
        for (let i = 0; i < 5; i++) {
          runStatements(1, `select * from settings`)
          for (let j = 0; j < 12; j++) runStatements(1, `select column_${'abcdefghijkl'[j]}${'x'.repeat(i)} from wide`)
        }
        runStatements(20, 'begin')
        runStatements(20, 'COMMIT')
      })
      expect(await rows()).toEqual([])
    })

    test('repeated statements are not counted outside a scope', async () => {
      const { runStatements, rows } = await watching(database)
      runStatements(50)
      expect(await rows()).toEqual([])
    })

    test('repeated statements are counted once when an error is recorded in a scope without an end', async () => {
      const { tracker, runStatements, rows } = await watching(database)
      await new Promise<void>((done) => {
        setImmediate(async () => {
          tracker.setTags({ job: 'import' })
          runStatements(6)
          await tracker.Commands.LogError.call({ error_type: 'A', message: 'b' })
          await tracker.Commands.LogError.call({ error_type: 'A', message: 'b' })
          done()
        })
      })
      expect(await rows()).toMatchObject([{ route: 'job import', request_count: 1, statement_count: 6 }])
    })

    test('repeated statements are counted when the client disconnects', async () => {
      const { tracker, runStatements, rows } = await watching(database)
      const server = createServer(() => {
        runStatements(6)
        client.destroy()
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await new Promise((done) => server.once('listening', done))
      const { port } = server.address() as AddressInfo
      const client = httpRequest({ port, path: '/orders/77?secret=1', agent: false }).on('error', () => {})
      client.end()
      await new Promise((done) => client.once('close', done))
      await expect.poll(rows).toMatchObject([{ route: 'GET /orders/:id', statement_count: 6 }])
      await tracker.shutdown()
    })

    test('repeated statements are limited in number', async () => {
      const { tracker, runStatements, rows } = await watching(database)
      for (let i = 0; i < 600; i++) tracker.withScope(() => runStatements(5, `select ${'a'.repeat(i)} from x`))
      const all = await rows()
      expect(all.reduce((sum, { statement_count }) => sum + statement_count, 0)).toBe(3000)
      expect(all.length).toBeLessThanOrEqual(201)
    })

    test('repeated statements do not change an unhandled rejection', async () => {
      const { tracker } = await watching(database)
      const seen = new Promise((resolve) => process.once('unhandledRejection', resolve))
      const lost = new Error('unhandled')
      void tracker.withScope(() => Promise.reject(lost))
      expect(await seen).toBe(lost)
    })
  },
  { except: ['postgres', 'mysql'] },
)

test('a scope counts a limited number of statements', () => {
  const repeats = new StatementRepeats()
  for (let i = 0; i < 10_000; i++) repeats.add(`statement ${i}`)
  for (let i = 0; i < 5; i++) repeats.add('late')
  expect(repeats.repeatedAtLeast(2)).toEqual([])
  for (let i = 0; i < 5; i++) repeats.add('statement 3')
  expect(repeats.repeatedAtLeast(5)).toMatchObject([{ statement: 'statement 3', count: 6 }])
})

test.each([
  ["select * from users where name = 'secret' and id = 7", undefined, 'select * from users where name = ? and id = ?'],
  ['select * from users where name = "secret"', undefined, 'select * from users where name = ?'],
  ['select "name" from "users" where id = 7', 'postgres', 'select "name" from "users" where id = ?'],
  [
    "select * from users where name = 'it\\'s secret' and a = 'secret'",
    undefined,
    'select * from users where name = …',
  ],
  ["select * from files where path = 'C:\\' and owner = 'secret'", undefined, 'select * from files where path = …'],
  [
    "select * from files where path = 'C:\\' and owner = 'secret'",
    'pg',
    'select * from files where path = ? and owner = ?',
  ],
  ['select $tag$secret$tag$', undefined, 'select …'],
  ["select 'secret", undefined, 'select ?'],
  ['select 1 -- secret', 'sqlite', 'select ?'],
])('a statement in a breadcrumb contains no values: %s', (message, system, expected) => {
  const metadata = system === undefined ? undefined : { system }
  const text = breadcrumbStatement({ message, metadata })
  expect(text).toBe(expected)
  expect(text).not.toContain('secret')
})
