import type { Context } from '../../context.js'
import type { Status } from '../../model/workflow.js'
import { sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sort-order.js'
import { type ErrorsFilter, type ErrorsQuery, filtered, hasFilters, type Lookups } from './errors-filter.js'
import { oneOf } from './one-of.js'
import { errorsWithText, holds, SEARCH_TABLES } from './search-text.js'

/** The errors that fit a filter, as a query to be finished. */
export interface MatchingErrors {
  /** All that fit, or all but for the text when that is common. */
  query(lookups?: Lookups): ErrorsQuery<object>
  /**
   * The text, when it is in so many errors that they are tested one by one; null when there is none, or `query` knows
   * the errors that have it.
   */
  common_text: string | null
  /** Whether the filter asks for more than an application. */
  narrowed: boolean
  /** More than so many cannot fit, as far as that is known. */
  at_most: number
}

/** Of what has a common text, so many are counted: who reads further should say more. */
export const COUNT_BOUND = 1000

/** How many errors fit per status, and how many of those are snoozed now. */
export interface StatusTally {
  rows: { status: Status; total: number; snoozed: number }[]
  /** There are at least so many, and probably more. */
  is_bound: boolean
}

/**
 * `found` is what `findText` gave for the same filter, for a page that asks several questions about it: the text is
 * then looked for once.
 */
export async function matchingErrors(
  context: Context,
  filter: ErrorsFilter,
  found?: FoundText,
): Promise<MatchingErrors> {
  const all: MatchingErrors['query'] = (lookups) =>
    filtered(context.database.read.selectFrom('faultboard_errors'), filter, context, lookups)
  const { search } = filter
  const narrowed = hasFilters(filter)
  const unknown = { narrowed, at_most: Number.POSITIVE_INFINITY }
  if (search === undefined) return { query: all, common_text: null, ...unknown }
  const { ids } = found ?? (await findText(context, filter))
  if (ids === null) return { query: all, common_text: search, ...unknown }
  const among = sql<boolean>`faultboard_errors.id in (${oneOf(ids)})`
  return { query: (lookups) => all(lookups).where(among), common_text: null, narrowed, at_most: ids.length }
}

/** The ids of the errors with the text, or null when they are too many to be gathered or no text is looked for. */
export interface FoundText {
  ids: number[] | null
}

export async function findText(context: Context, { search }: ErrorsFilter): Promise<FoundText> {
  await context.ready()
  return { ids: search === undefined ? null : await errorsWithText(context, search) }
}

/** Tests each error for the text, as far as the query goes. */
export function withText<O>(query: ErrorsQuery<O>, text: string): ErrorsQuery<O> {
  const tests = SEARCH_TABLES.map(
    (table) => sql<boolean>`exists (
      select 1 from ${sql.table(table)} as texts where texts.error_id = faultboard_errors.id and ${holds(text)})`,
  )
  return query.where(sql<boolean>`(${sql.join(tests, sql` or `)})`)
}

/** How many fit: exactly, or up to a bound when they are those of a common text. */
export async function countErrors(context: Context, matching: MatchingErrors, filter: ErrorsFilter) {
  if (matching.common_text === null) {
    const count = matching.query().select(({ fn }) => fn.countAll<number>().as('total'))
    return { count: (await count.executeTakeFirstOrThrow()).total, is_bound: false }
  }
  const { search, ...others } = filter
  // Then it is known already that there are more than are counted.
  if (others.application_id === undefined && !hasFilters(others)) return { count: COUNT_BOUND, is_bound: true }
  const { rows, is_bound } = await tallyByStatus(context, matching)
  return { count: is_bound ? COUNT_BOUND : totalOf(rows), is_bound }
}

/** Counts per status; up to COUNT_BOUND errors for a common text. */
export async function tallyByStatus(
  context: Context,
  { query, common_text, narrowed }: MatchingErrors,
): Promise<StatusTally> {
  const all = query({ by_application: false })
  if (common_text === null) return { rows: await tally(context, all, { from_index: !narrowed }), is_bound: false }
  const rows = await tally(context, withText(all, common_text).limit(COUNT_BOUND + 1), { from_index: false })
  return { rows, is_bound: totalOf(rows) > COUNT_BOUND }
}

/** Status, snooze and application stand in an index of SQLite; by it, rows with more conditions are read criss-cross. */
async function tally(
  { database, now }: Context,
  errors: ErrorsQuery<object>,
  { from_index }: { from_index: boolean },
): Promise<StatusTally['rows']> {
  const column = 'faultboard_errors.status'
  const status = from_index ? sql.ref<Status>(column) : withoutIndex<Status>(database.dialect, column)
  const fitting = errors.select([status.as('status'), 'faultboard_errors.snoozed_until']).as('fitting')
  const rows = await database.read
    .selectFrom(fitting)
    .select(({ fn }) => [
      'status',
      fn.countAll<number>().as('total'),
      sql<number>`sum(case when snoozed_until > ${now()} then 1 else 0 end)`.as('snoozed'),
    ])
    .groupBy('status')
    .execute()
  return rows.map((row) => ({ ...row, snoozed: Number(row.snoozed) }))
}

function totalOf(rows: StatusTally['rows']): number {
  return rows.reduce((sum, { total }) => sum + total, 0)
}
