import type { Context } from '../../context.js'
import { applicationIds } from '../../store/applications.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sort-order.js'

/**
 * The condition by which hourly sums of an application, or of all, are found. Their key begins with the application, so
 * it is named even when all are wanted; SQLite has an index that begins with the hour and holds the sums themselves, and
 * is kept from the key.
 */
export async function hoursOf(context: Context, application_id: number | undefined): Promise<RawBuilder<boolean>> {
  const { database } = context
  const column = withoutIndex(database.dialect, 'application_id')
  if (application_id !== undefined) return sql<boolean>`${column} = ${application_id}`
  if (database.dialect.hasCoveringIndexes) return sql<boolean>`1 = 1`
  return sql<boolean>`${column} in (${sql.join(await askedApplications(context, { application_id }))})`
}

/** The applications of a scope, by whose ids the keys of the sums begin; never none, because `in ()` is no SQL. */
export async function askedApplications({ database }: Context, { application_id }: Scope): Promise<number[]> {
  return application_id === undefined ? [NOBODY, ...(await applicationIds(database))] : [application_id]
}

const NOBODY = 0

/**
 * The condition for errors of an application where another index is to find them, or where all columns are read from one
 * index from end to end: SQLite keeps the application's own indexes out of it.
 */
export function errorsOf({ database }: Context, application_id: number | undefined): RawBuilder<boolean> {
  if (application_id === undefined) return sql<boolean>`1 = 1`
  return sql<boolean>`${withoutIndex(database.dialect, 'faultboard_errors.application_id')} = ${application_id}`
}

/** The condition for occurrences of the errors of an application, by the column that names the error. */
export function occurrencesOf(
  { database }: Context,
  error_id: string,
  application_id: number | undefined,
): RawBuilder<boolean> {
  if (application_id === undefined) return sql<boolean>`1 = 1`
  const application = withoutIndex(database.dialect, 'of_application.application_id')
  return sql<boolean>`exists (select of_application.id from faultboard_errors as of_application
    where of_application.id = ${sql.ref(error_id)} and ${application} = ${application_id})`
}

export interface Scope {
  application_id: number | undefined
}
