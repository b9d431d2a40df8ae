import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { applicationIds } from '../../store/applications.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sql/sort-order.js'

const ANY = sql<boolean>`1 = 1`

/**
 * Condition for hourly sums. Database servers list all applications, because the primary key starts with the
 * application. SQLite uses a covering index that starts with the hour instead.
 */
export async function hoursInScope(context: Context, scope: Scope): Promise<RawBuilder<boolean>> {
  const { dialect } = context.database
  if (!dialect.hasCoveringIndexes) return sumsInScope(context, scope)
  const { application_id } = scope
  const application =
    application_id === undefined ? ANY : equals(withoutIndex(dialect, 'application_id'), application_id)
  // SQLite would expect few rows of an environment and scan the table for the first row.
  const environment = withoutIndex(dialect, 'environment')
  return sql<boolean>`${application} and ${scope.environment === undefined ? ANY : equals(environment, scope.environment)}`
}

/** Condition for sums whose primary key starts with the application. */
export async function sumsInScope(context: Context, scope: Scope, table?: string): Promise<RawBuilder<boolean>> {
  const column = (name: string) => (table === undefined ? name : `${table}.${name}`)
  const ids = sql.join(await applicationsInScope(context, scope))
  return sql<boolean>`${sql.ref(column('application_id'))} in (${ids}) and ${inEnvironment(scope, column('environment'))}`
}

/** Condition for the environment of sums. */
export function inEnvironment(
  { environment }: Pick<Scope, 'environment'>,
  column = 'environment',
): RawBuilder<boolean> {
  return environment === undefined ? ANY : equals(sql.ref(column), environment)
}

/** Application ids of a scope. Never empty, because SQL does not allow `in ()`. */
async function applicationsInScope({ database }: Context, { application_id }: Scope): Promise<number[]> {
  return application_id === undefined ? [NO_APPLICATION, ...(await applicationIds(database))] : [application_id]
}

const NO_APPLICATION = 0

export interface ErrorsTable {
  table?: string
  /** Lets SQLite use the application index. Set it if no other index is faster. */
  usesIndex?: boolean
}

/** Condition for errors. Avoids the index of the record key, with which SQLite reads all errors of an environment. */
export function errorsInScope(
  { database: { dialect } }: Context,
  { application_id, environment }: Scope,
  { table = 'faultboard_errors', usesIndex = false }: ErrorsTable = {},
): RawBuilder<boolean> {
  const application = usesIndex ? sql.ref(`${table}.application_id`) : withoutIndex(dialect, `${table}.application_id`)
  return sql<boolean>`${application_id === undefined ? ANY : equals(application, application_id)}
    and ${environment === undefined ? ANY : equals(withoutIndex(dialect, `${table}.environment`), environment)}`
}

/** Condition for occurrences of errors; `error_id` is the column that references the error. */
export function occurrencesInScope(context: Context, error_id: string, scope: Scope): RawBuilder<boolean> {
  if (!isLimited(scope)) return ANY
  return context.database.dialect.lookupExists(sql`select in_scope.id from faultboard_errors as in_scope
    where in_scope.id = ${sql.ref(error_id)} and ${errorsInScope(context, scope, { table: 'in_scope' })}`)
}

/** Condition for rows of an application that reference an error. */
export function errorIdInEnvironment(
  context: Context,
  error_id: string,
  { environment }: Pick<Scope, 'environment'>,
): RawBuilder<boolean> {
  return occurrencesInScope(context, error_id, { application_id: undefined, environment })
}

/** Checks whether a scope selects an application or an environment. */
export function isLimited({ application_id, environment }: Scope): boolean {
  return application_id !== undefined || environment !== undefined
}

function equals(column: RawBuilder<unknown>, value: number | string): RawBuilder<boolean> {
  return sql<boolean>`${column} = ${value}`
}
