import type { Context } from '../context.js'
import { type RawBuilder, sql } from '../store/kysely.js'

/**
 * The condition by which hourly sums of an application, or of all, are found. Their key begins with the application, so
 * it is named even when all are wanted; SQLite has an index that begins with the hour and holds the sums themselves, and
 * a plus sign keeps it from the key.
 */
export async function hoursOf({ database }: Context, application_id: number | undefined): Promise<RawBuilder<boolean>> {
  const column = sql.ref('application_id')
  if (database.dialect.name === 'sqlite') {
    return application_id === undefined ? sql<boolean>`1 = 1` : sql<boolean>`+${column} = ${application_id}`
  }
  if (application_id !== undefined) return sql<boolean>`${column} = ${application_id}`
  const rows = await database.read.selectFrom('faultboard_applications').select('id').execute()
  return sql<boolean>`${column} in (${sql.join([NOBODY, ...rows.map(({ id }) => id)])})`
}

/** `in ()` is no SQL. */
const NOBODY = 0

/**
 * The condition for errors of an application where another index is to find them, or where all columns are read from one
 * index from end to end: the plus sign keeps the application's own indexes out of it.
 */
export function errorsOf(application_id: number | undefined): RawBuilder<boolean> {
  if (application_id === undefined) return sql<boolean>`1 = 1`
  return sql<boolean>`+${sql.ref('faultboard_errors.application_id')} = ${application_id}`
}
