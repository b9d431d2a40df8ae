import { afterAll, describe, inject, onTestFinished } from 'vitest'
import { type CreatedDatabase, type Dialect, SERVERS, selectedDialects } from './databases/database-servers.js'

export type { Dialect } from './databases/database-servers.js'

export interface TestDatabase {
  readonly dialect: Dialect
  /**
   * Returns the URL of a database with the schema and no rows. A database requested by a test is reset afterward and
   * may be reused; a database requested by a hook is kept. All are removed after the describe block.
   */
  fresh(): Promise<string>
  /** Returns the URL of a database without tables, for tests of migrations. */
  empty(): Promise<string>
}

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
      const removals: (() => Promise<void>)[] = []
      // Registered before the hooks of the body, so that it runs after them.
      afterAll(async () => {
        for (const remove of removals) await remove()
      })
      const create = async (template?: string) => {
        const { url, remove } = await SERVERS[dialect].create(template)
        removals.push(remove)
        return url
      }
      const reusableUrls: string[] = []
      const fresh = async () => {
        const url = reusableUrls.pop() ?? (await create(inject('templates')[dialect]))
        resetAfterTest(async () => {
          if (await SERVERS[dialect].reset?.(url)) reusableUrls.push(url)
        })
        return url
      }
      body({ dialect, fresh, empty: () => create() })
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

/** Hooks of a test run in reverse order, so this hook runs after the test has closed its connections. */
function resetAfterTest(renew: () => Promise<void>): void {
  try {
    onTestFinished(renew)
  } catch {
    // Requested by a hook of the whole block, so its tests share the database.
  }
}

/** SQLite file with its schema for tests that start several trackers, which would each migrate a database in memory. */
export function migratedSqlite(): Promise<CreatedDatabase> {
  return SERVERS.sqlite.create(inject('templates').sqlite)
}

function skippedDatabase(dialect: Dialect): TestDatabase {
  return { dialect, fresh: skipped, empty: skipped }
}

function skipped(): Promise<string> {
  throw new Error('A skipped database was used outside of a test or hook')
}
