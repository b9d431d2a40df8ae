import { expect, onTestFinished, test } from 'vitest'
import { createDatabase, type Database } from '../../src/store/database.js'
import { CompiledQuery } from '../../src/store/kysely.js'
import { describeEachDatabase } from '../support/databases.js'

const FAILING_QUERIES = {
  sqlite: ['select * from missing_table', 'select missing from faultboard_errors', 'selec 1', "select abs('x', 1)"],
  postgres: ['select * from missing_table', 'select missing from faultboard_errors', 'selec 1', 'select 1/0'],
  mysql: ['select * from missing_table', 'select missing from faultboard_errors', 'selec 1', 'select no_function(1)'],
} as const

describeEachDatabase('failing queries', (database) => {
  test.each(FAILING_QUERIES[database.dialect])('failing queries do not count as an outage: %s', async (text) => {
    const opened = await open(await database.fresh())
    const error = await failure(opened, text)
    expect(error).toBeInstanceOf(Error)
    expect(opened.isUnreachable(error)).toBe(false)
  })
})

describeEachDatabase(
  'outage detection',
  (database) => {
    test('treats a lock timeout as an outage', async () => {
      const url = await database.fresh()
      const [holder, waiter] = [await open(url), await open(url)]
      await run(holder, "insert into faultboard_applications (name, created_at) values ('locked', 1)")
      await holder.read.transaction().execute(async (trx) => {
        await trx.executeQuery(CompiledQuery.raw('select * from faultboard_applications for update'))
        const error = await failure(waiter, 'select * from faultboard_applications for update nowait')
        expect(error).toMatchObject({ code: expect.stringMatching(/55P03|ER_LOCK/) })
        expect(waiter.isUnreachable(error)).toBe(true)
      })
    })

    test('treats a refused password and an unknown database as outages', async () => {
      const url = new URL(await database.fresh())
      url.password = 'wrong'
      const refused = await open(url.href)
      const error = await failure(refused, 'select 1')
      // A test server may trust every local user and refuse no password.
      if (error) expect(refused.isUnreachable(error)).toBe(true)
      url.pathname = '/no_such_database'
      const missing = await open(url.href)
      expect(missing.isUnreachable(await failure(missing, 'select 1'))).toBe(true)
    })
  },
  { except: ['sqlite'] },
)

test.each([
  ['SQLITE_BUSY', 5],
  ['SQLITE_LOCKED', 6],
  ['SQLITE_IOERR', 10],
  ['SQLITE_CORRUPT', 11],
  ['SQLITE_FULL', 13],
  ['SQLITE_CANTOPEN', 14],
  ['SQLITE_NOTADB', 26],
])('treats %s as an outage in node:sqlite and better-sqlite3', async (code, errcode) => {
  const { isUnreachable } = await open('sqlite::memory:')
  expect(isUnreachable(Object.assign(new Error(code), { code: 'ERR_SQLITE_ERROR', errcode }))).toBe(true)
  expect(isUnreachable(Object.assign(new Error(code), { code }))).toBe(true)
})

async function open(url: string): Promise<Database> {
  const database = createDatabase(url, process.cwd())
  onTestFinished(() => database.close())
  return database
}

async function run({ read }: Database, text: string): Promise<void> {
  await read.executeQuery(CompiledQuery.raw(text))
}

async function failure(database: Database, text: string): Promise<unknown> {
  return run(database, text).then(
    () => null,
    (error: unknown) => error,
  )
}
