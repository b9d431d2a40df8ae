import type { Context } from '../../context.js'
import { applicationIds } from '../../store/applications.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sql/sort-order.js'

/**
 * Condition for the hourly sums of one or all applications. Database servers list all applications, because the
 * primary key starts with the application. SQLite uses a covering index that starts with the hour instead.
 */
export async function hoursOfApplication(
  context: Context,
  application_id: number | undefined,
): Promise<RawBuilder<boolean>> {
  const { database } = context
  const column = withoutIndex(database.dialect, 'application_id')
  if (application_id !== undefined) return sql<boolean>`${column} = ${application_id}`
  if (database.dialect.hasCoveringIndexes) return sql<boolean>`1 = 1`
  return sql<boolean>`${column} in (${sql.join(await applicationsInScope(context, { application_id }))})`
}

/** Application ids of a scope. Never empty, because SQL does not allow `in ()`. */
export async function applicationsInScope({ database }: Context, { application_id }: Scope): Promise<number[]> {
  return application_id === undefined ? [NO_APPLICATION, ...(await applicationIds(database))] : [application_id]
}

const NO_APPLICATION = 0

/**
 * Condition for errors of an application that prevents SQLite from using the application index where another index is
 * faster.
 */
export function errorsOfApplication({ database }: Context, application_id: number | undefined): RawBuilder<boolean> {
  if (application_id === undefined) return sql<boolean>`1 = 1`
  return sql<boolean>`${withoutIndex(database.dialect, 'faultboard_errors.application_id')} = ${application_id}`
}

/** Condition for occurrences of an application's errors; `error_id` is the column that references the error. */
export function occurrencesOfApplication(
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
