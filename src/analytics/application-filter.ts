import type { Context } from '../context.js'
import { type RawBuilder, sql } from '../store/kysely.js'
import { withoutIndex } from '../store/sort-order.js'

/**
 * The condition by which hourly sums of an application, or of all, are found. Their key begins with the application, so
 * it is named even when all are wanted; SQLite has an index that begins with the hour and holds the sums themselves, and
 * is kept from the key.
 */
export async function hoursOf({ database }: Context, application_id: number | undefined): Promise<RawBuilder<boolean>> {
  const column = withoutIndex(database.dialect, 'application_id')
  if (application_id !== undefined) return sql<boolean>`${column} = ${application_id}`
  if (database.dialect.name === 'sqlite') return sql<boolean>`1 = 1`
  const rows = await database.read.selectFrom('faultboard_applications').select('id').execute()
  return sql<boolean>`${column} in (${sql.join([NOBODY, ...rows.map(({ id }) => id)])})`
}

/** `in ()` is no SQL. */
const NOBODY = 0

/**
 * The condition for errors of an application where another index is to find them, or where all columns are read from one
 * index from end to end: SQLite keeps the application's own indexes out of it.
 */
export function errorsOf({ database }: Context, application_id: number | undefined): RawBuilder<boolean> {
  if (application_id === undefined) return sql<boolean>`1 = 1`
  return sql<boolean>`${withoutIndex(database.dialect, 'faultboard_errors.application_id')} = ${application_id}`
}
