import type { TestProject } from 'vitest/node'
import { createDatabase } from '../../src/store/database.js'
import { sql } from '../../src/store/kysely.js'
import { migrate } from '../../src/store/migrate.js'
import { type Dialect, SERVERS, selectedDialects } from './databases/database-servers.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Templates that `database.fresh()` copies. */
    templates: Partial<Record<Dialect, string>>
  }
}

/** Runs the migrations once per test run, because hundreds of tests need the schema. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dialects = selectedDialects().filter((dialect) => isAvailable(dialect))
  const createdDatabases = await Promise.all(dialects.map(createTemplateDatabase))
  project.provide('templates', Object.fromEntries(createdDatabases.map(({ dialect, template }) => [dialect, template])))
  return async () => {
    await Promise.all(createdDatabases.map(({ remove }) => remove()))
  }
}

function isAvailable(dialect: Dialect): boolean {
  const { variable } = SERVERS[dialect]
  return !variable || Boolean(process.env[variable])
}

async function createTemplateDatabase(dialect: Dialect) {
  const { url, remove } = await SERVERS[dialect].create()
  const database = createDatabase(url, process.cwd())
  await migrate(database)
  // Merges the write-ahead log into the file, because only the file is copied.
  if (dialect === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(database.read)
  await database.close()
  return { dialect, template: await SERVERS[dialect].createTemplate(url), remove }
}
