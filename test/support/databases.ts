import { afterAll, describe, inject, onTestFinished } from 'vitest'
import { type Created, type Dialect, SERVERS, selectedDialects } from './databases/database-servers.js'

export type { Dialect } from './databases/database-servers.js'

export interface TestDatabase {
  readonly dialect: Dialect
  /**
   * The URL of a new database with its schema and nothing else. One that a test has asked for is emptied when that is
   * done, and may be given to the next; one of a hook is kept. All are removed when the describe block is done.
   */
  fresh(): Promise<string>
  /** The same without any table, for what is about the migrations. */
  empty(): Promise<string>
}

/**
 * The same tests once for every database that DATABASES selects (all by default).
 *
 * @example
 * describeEachDatabase('storing an occurrence', (database) => {
 *   test('counts it', async () => {
 *     const url = await database.fresh()
 *   })
 * })
 */
export function describeEachDatabase(
  title: string,
  body: (database: TestDatabase) => void,
  { except = [] }: { except?: readonly Dialect[] } = {},
): void {
  const dialects = selectedDialects().filter((one) => !except.includes(one))
  // A file in which no test stands at all is a failure to vitest.
  if (dialects.length === 0) {
    describe.skip(`${title} (skipped: its databases are not selected)`, () => body(skippedDatabase('postgres')))
  }
  for (const dialect of dialects) {
    const { variable } = SERVERS[dialect]
    if (variable && !process.env[variable]) {
      describe.skip(`${title} on ${dialect} (skipped: ${variable} is not set)`, () => body(skippedDatabase(dialect)))
      continue
    }
    describe(`${title} on ${dialect}`, () => {
      const removals: (() => Promise<void>)[] = []
      // Registered before the body's own hooks, therefore run after them.
      afterAll(async () => {
        for (const remove of removals) await remove()
      })
      const create = async (template?: string) => {
        const { url, remove } = await SERVERS[dialect].create(template)
        removals.push(remove)
        return url
      }
      const idle: string[] = []
      const fresh = async () => {
        const url = idle.pop() ?? (await create(inject('templates')[dialect]))
        renewLater(async () => {
          if (await SERVERS[dialect].renew?.(url)) idle.push(url)
        })
        return url
      }
      body({ dialect, fresh, empty: () => create() })
    })
  }
}

/**
 * The same for tests whose code contains no SQL: runs on the first database that DATABASES selects, SQLite by default.
 * `DATABASES=postgres npm test` runs every test on PostgreSQL.
 */
export function describeOneDatabase(title: string, body: (database: TestDatabase) => void): void {
  describeEachDatabase(title, body, { except: selectedDialects().slice(1) })
}

/** Hooks of a test run backwards, so this one comes when whatever the test has opened is closed. */
function renewLater(renew: () => Promise<void>): void {
  try {
    onTestFinished(renew)
  } catch {
    // Asked for by a hook of the whole block, whose tests share it.
  }
}

/** A SQLite file with its schema, for tests that start one tracker after the other: in memory each would migrate anew. */
export function migratedSqlite(): Promise<Created> {
  return SERVERS.sqlite.create(inject('templates').sqlite)
}

function skippedDatabase(dialect: Dialect): TestDatabase {
  return { dialect, fresh: skipped, empty: skipped }
}

function skipped(): Promise<string> {
  throw new Error('a skipped database was used outside of a test or hook')
}
