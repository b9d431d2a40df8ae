import { createDatabase, type Database } from '../../store/database.js'
import { migrate } from '../../store/migrate.js'
import { CommandFailed } from '../command.js'
import { missingFile, runQuery } from '../tracker-database.js'
import { APPLICATION_NAME } from './host-settings.js'

/** Opens a database for the measurements and applies the schema. Refuses a database with errors of an application. */
export async function openScratchDatabase(url: string): Promise<Database> {
  const database = createDatabase(url, process.cwd())
  try {
    if (!missingFile(database)) await runQuery(database, () => refuseErrors(database))
    await runQuery(database, () => migrate(database))
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Occurrences in the database, of all errors. */
export async function countRecorded({ read }: Database): Promise<number> {
  const { total } = await read
    .selectFrom('faultboard_errors')
    .select((eb) => eb.fn.sum('occurrence_count').as('total'))
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

/** Errors of an earlier run of this command do not count. */
async function refuseErrors({ dialect, read }: Database): Promise<void> {
  const tables = ['faultboard_errors', 'faultboard_applications']
  for (const table of tables) if ((await dialect.findTable(table).execute(read)).rows.length === 0) return
  const found = await read
    .selectFrom('faultboard_errors as e')
    .innerJoin('faultboard_applications as a', 'a.id', 'e.application_id')
    .select('a.name')
    .where('a.name', '!=', APPLICATION_NAME)
    .limit(1)
    .executeTakeFirst()
  if (!found) return
  throw new CommandFailed(
    `${dialect.address} contains errors of the application ${found.name}. This command writes thousands of errors: create an empty database and pass its URL as --database, or omit --database to use a temporary SQLite file.`,
  )
}
