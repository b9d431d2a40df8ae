import type { Options } from '../config/options.js'
import { APPLICATIONS } from './bulk-targets.js'
import type { Database } from './database.js'

/** The id of an application, which is created on first use. */
export async function applicationId(database: Database, name: string, now: number): Promise<number> {
  const known = await find(database, name)
  if (known !== null) return known
  await database.dialect.insertMany(database.read, APPLICATIONS, [[name, now]])
  const created = await find(database, name)
  if (created === null) throw new Error(`the application ${name} could not be created`)
  return created
}

/** The id of the application whose process this is; null where nothing was ever kept for it. */
export function ownApplicationId({
  database,
  config,
}: {
  database: Database
  config: Options
}): Promise<number | null> {
  return find(database, config.application_name)
}

/** Every application that reports here. */
export async function applicationIds({ read }: Database): Promise<number[]> {
  const rows = await read.selectFrom('faultboard_applications').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

export async function applicationNames({ read }: Database): Promise<Map<number, string>> {
  const rows = await read.selectFrom('faultboard_applications').select(['id', 'name']).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

async function find({ read }: Database, name: string): Promise<number | null> {
  const row = await read.selectFrom('faultboard_applications').select('id').where('name', '=', name).executeTakeFirst()
  return row?.id ?? null
}
