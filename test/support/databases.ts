import { afterAll, describe, inject, onTestFinished } from 'vitest'
import { type CreatedDatabase, type Dialect, SERVERS, selectedDialects } from './databases/database-servers.js'

export type { Dialect } from './databases/database-servers.js'

export interface TestDatabase {
  readonly dialect: Dialect
  /**
   * Returns the URL of a database with the schema and no rows. It is reset after the test that requested it, or after the
   * describe block whose hook requested it, and may be reused by any later test of this process.
   */
  fresh(): Promise<string>
  /** Returns the URL of a database without tables, for tests of migrations. It is removed after the describe block. */
  empty(): Promise<string>
}

/** Unused databases of this process, which runs many test files. The global teardown removes them. */
const reusable: Record<Dialect, CreatedDatabase[]> = { sqlite: [], postgres: [], mysql: [] }

/**
 * Runs the tests once for every database selected by DATABASES (all by default).
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
  const dialects = selectedDialects().filter((dialect) => !except.includes(dialect))
  // Vitest fails a file without tests.
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
      const cleanups: (() => Promise<void>)[] = []
      // Registered before the hooks of the body, so that it runs after them.
      afterAll(async () => {
        for (const cleanUp of cleanups) await cleanUp()
      })
      const empty = async () => {
        const { url, remove } = await SERVERS[dialect].create(inject('run'))
        cleanups.push(remove)
        return url
      }
      const fresh = async () => {
        const database = reusable[dialect].pop() ?? (await createFresh(dialect))
        const recycle = async () => {
          if (await SERVERS[dialect].reset?.(database.url)) reusable[dialect].push(database)
          else await database.remove()
        }
        if (!runAfterTest(recycle)) cleanups.push(recycle)
        return database.url
      }
      body({ dialect, fresh, empty })
    })
  }
}

/**
 * Runs tests of code without SQL on the first database selected by DATABASES, SQLite by default.
 * `DATABASES=postgres npm test` runs every test on PostgreSQL.
 */
export function describeOneDatabase(title: string, body: (database: TestDatabase) => void): void {
  describeEachDatabase(title, body, { except: selectedDialects().slice(1) })
}

/**
 * Hooks of a test run in reverse order, so this hook runs after the test has closed its connections. Returns false in a
 * hook of the whole block, whose tests share the database.
 */
function runAfterTest(hook: () => Promise<void>): boolean {
  try {
    onTestFinished(hook)
    return true
  } catch {
    return false
  }
}

function createFresh(dialect: Dialect): Promise<CreatedDatabase> {
  return SERVERS[dialect].create(inject('run'), inject('templates')[dialect])
}

/** SQLite file with its schema for tests that start several trackers, which would each migrate a database in memory. */
export function migratedSqlite(): Promise<CreatedDatabase> {
  return createFresh('sqlite')
}

function skippedDatabase(dialect: Dialect): TestDatabase {
  return { dialect, fresh: skipped, empty: skipped }
}

function skipped(): Promise<string> {
  throw new Error('A skipped database was used outside of a test or hook')
}
