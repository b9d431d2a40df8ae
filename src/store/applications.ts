import { APPLICATIONS } from './bulk-targets.js'
import type { Database } from './database.js'

/** The id of an application, which is created on first use. */
export async function applicationId({ read, dialect }: Database, name: string, now: number): Promise<number> {
  const known = await find(read, name)
  if (known !== null) return known
  await dialect.insertMany(read, APPLICATIONS, [[name, now]])
  const created = await find(read, name)
  if (created === null) throw new Error(`the application ${name} could not be created`)
  return created
}

async function find(read: Database['read'], name: string): Promise<number | null> {
  const row = await read.selectFrom('faultboard_applications').select('id').where('name', '=', name).executeTakeFirst()
  return row?.id ?? null
}
