import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { createDatabase } from '../../src/store/database.js'
import { sql } from '../../src/store/kysely.js'
import { migrate } from '../../src/store/migrate.js'
import { type Dialect, SERVERS, selectedDialects } from './databases/database-servers.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Templates that `database.fresh()` copies. */
    templates: Partial<Record<Dialect, string>>
    /** Part of the names of all databases of this test run. */
    run: string
  }
}

/** Runs the migrations once per test run, because hundreds of tests need the schema. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dialects = selectedDialects().filter((dialect) => isAvailable(dialect))
  const run = randomBytes(6).toString('hex')
  project.provide('run', run)
  const createdDatabases = await Promise.all(dialects.map((dialect) => createTemplateDatabase(dialect, run)))
  project.provide('templates', Object.fromEntries(createdDatabases.map(({ dialect, template }) => [dialect, template])))
  return async () => {
    await Promise.all(createdDatabases.map(({ remove }) => remove()))
    await Promise.all(dialects.map((dialect) => SERVERS[dialect].removeAll?.(run)))
  }
}

function isAvailable(dialect: Dialect): boolean {
  const { variable } = SERVERS[dialect]
  return !variable || Boolean(process.env[variable])
}

async function createTemplateDatabase(dialect: Dialect, run: string) {
  const { url, remove } = await SERVERS[dialect].create(run)
  const database = createDatabase(url, process.cwd())
  await migrate(database)
  // Merges the write-ahead log into the file, because only the file is copied.
  if (dialect === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(database.read)
  await database.close()
  return { dialect, template: await SERVERS[dialect].createTemplate(url), remove }
}
