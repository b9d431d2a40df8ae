import type { Options } from '../config/options.js'
import { APPLICATIONS } from './bulk/bulk-targets.js'
import type { Database } from './database.js'

/** Returns the id of an application. Creates the application on first use. */
export async function applicationId(database: Database, name: string, now: number): Promise<number> {
  const known = await findApplicationId(database, name)
  if (known !== null) return known
  await database.dialect.insertMany(database.read, APPLICATIONS, [[name, now]])
  const created = await findApplicationId(database, name)
  if (created === null) throw new Error(`Could not create the application ${name}.`)
  return created
}

/** Returns the id of the application of this process, or null before its first write. */
export function ownApplicationId({
  database,
  config,
}: {
  database: Database
  config: Options
}): Promise<number | null> {
  return findApplicationId(database, config.application_name)
}

export async function applicationIds({ read }: Database): Promise<number[]> {
  const rows = await read.selectFrom('faultboard_applications').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

export async function applicationNames({ read }: Database): Promise<Map<number, string>> {
  const rows = await read.selectFrom('faultboard_applications').select(['id', 'name']).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

async function findApplicationId({ read }: Database, name: string): Promise<number | null> {
  const row = await read.selectFrom('faultboard_applications').select('id').where('name', '=', name).executeTakeFirst()
  return row?.id ?? null
}
