import type { TestProject } from 'vitest/node'
import { createDatabase } from '../../src/store/database.js'
import { sql } from '../../src/store/kysely.js'
import { migrate } from '../../src/store/migrate.js'
import { type Dialect, SERVERS, selectedDialects } from './databases/database-servers.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** From which `database.fresh()` makes a database that has its schema already. */
    templates: Partial<Record<Dialect, string>>
  }
}

/** Runs the migrations once for a whole run, because hundreds of tests begin with their result. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dialects = selectedDialects().filter((dialect) => isThere(dialect))
  const made = await Promise.all(dialects.map(migrated))
  project.provide('templates', Object.fromEntries(made.map(({ dialect, template }) => [dialect, template])))
  return async () => {
    await Promise.all(made.map(({ remove }) => remove()))
  }
}

function isThere(dialect: Dialect): boolean {
  const { variable } = SERVERS[dialect]
  return !variable || Boolean(process.env[variable])
}

async function migrated(dialect: Dialect) {
  const { url, remove } = await SERVERS[dialect].create()
  const database = createDatabase(url, process.cwd())
  await migrate(database)
  // Or a part of the schema would stand in a second file, which is not copied.
  if (dialect === 'sqlite') await sql`pragma wal_checkpoint(truncate)`.execute(database.read)
  await database.close()
  return { dialect, template: await SERVERS[dialect].templateOf(url), remove }
}
