import type { Context } from '../context.js'
import { parseInput } from '../model/input.js'
import { applicationNames } from '../store/applications.js'
import { sql } from '../store/kysely.js'
import { dailyCounts } from './daily-counts.js'
import { type ErrorSummary, summaryOf } from './error-record.js'
import { type ErrorsFilter, type ErrorsQuery, errorsListInput } from './errors-filter.js'
import { type ListOrder, listOrder } from './list-order.js'
import { countErrors, type FoundText, type MatchingErrors, matchingErrors, withText } from './matching-errors.js'
import { oneOf } from './one-of.js'

export {
  type ErrorsFilter,
  type ErrorsListInput,
  errorsListInput,
  MAX_PER_PAGE,
  SORT_FIELDS,
  UNASSIGNED,
} from './errors-filter.js'

/** An error as the list shows it. */
export interface ListedError extends ErrorSummary {
  /** Occurrences on each of the last seven local days, oldest first and today last. */
  daily_counts: number[]
}

export interface Pagination {
  page: number
  per_page: number
  total_count: number
  total_pages: number
  /** There are at least so many: of what has a common text not all are counted. */
  total_is_bound?: true
}

export interface ErrorsPage {
  errors: ListedError[]
  pagination: Pagination
}

/** The errors that fit the filter, newest first unless asked otherwise, a page at a time. */
export async function errorsPage(
  context: Context,
  input: unknown,
  { found }: { found?: FoundText } = {},
): Promise<ErrorsPage> {
  const filter = parseInput(errorsListInput, input ?? {})
  await context.ready()
  const { per_page } = filter
  const matching = await matchingErrors(context, filter, found)
  const { count: total_count, is_bound } = await countErrors(context, matching, filter)
  const total_pages = Math.max(1, Math.ceil(total_count / per_page))
  const page = Math.min(filter.page, total_pages)
  const offset = (page - 1) * per_page
  return {
    // Not more than are there: looking for one more would go through all that do not fit.
    errors: await listed(context, filter, matching, {
      limit: Math.min(per_page, total_count - offset),
      offset,
      total_count,
    }),
    pagination: { page, per_page, total_count, total_pages, ...(is_bound ? { total_is_bound: true } : {}) },
  }
}

/** These errors in this order, with what lists show of them; what was deleted meanwhile is left out. */
export async function summariesOf(context: Context, ids: readonly number[]): Promise<ErrorSummary[]> {
  if (ids.length === 0) return []
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .selectAll()
    .where(sql<boolean>`id in (${oneOf(ids)})`)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const names = await applicationNames(context.database)
  const now = context.now()
  return ids.flatMap((id) => {
    const row = byId.get(id)
    if (!row) return []
    const application_name = names.get(row.application_id) ?? ''
    return [summaryOf(row, { application_name, user_count: row.user_count ?? 0, now })]
  })
}

interface Slice {
  limit: number
  offset: number
  total_count: number
}

async function listed(
  context: Context,
  filter: ErrorsFilter,
  matching: MatchingErrors,
  { limit, offset, total_count }: Slice,
): Promise<ListedError[]> {
  if (limit <= 0) return []
  const matches = matching.common_text === null ? total_count : matching.at_most
  const order = listOrder(filter, context.database.dialect, matches)
  const rows = await inOrder(context, matching, order).limit(limit).offset(offset).execute()
  const ids = rows.map(({ id }) => id)
  const counts = await dailyCounts(context, ids)
  return (await summariesOf(context, ids)).map((error) => ({ ...error, daily_counts: counts.get(error.id) ?? [] }))
}

interface OrderedId {
  id: number
  sort_key: string | number
}

/**
 * The ids of those that fit, in order; the rows are read afterwards, because a database that sorts carries along all it
 * selects. Those of a common text are put in order first and tested then, until there are enough.
 */
export function inOrder(
  { database }: Context,
  { query, common_text }: MatchingErrors,
  { key, direction, is_indexed }: ListOrder,
): ErrorsQuery<OrderedId> {
  const sorted = query()
    .select(['faultboard_errors.id', key.as('sort_key')])
    .orderBy(key, direction)
    .orderBy('faultboard_errors.id', direction)
  if (common_text === null) return sorted
  const { name } = database.dialect
  const tested = (inner: ErrorsQuery<OrderedId>) =>
    withText(
      database.read.selectFrom(inner.as('faultboard_errors')).selectAll() as unknown as ErrorsQuery<OrderedId>,
      common_text,
    )
  // Without limit or offset the test would move into the inner query, and all would be tested before they are sorted.
  if (name === 'sqlite') return tested(sorted.limit(sql.lit(-1)))
  if (name === 'postgres' && !is_indexed) {
    const inner = tested(sorted.offset(sql.lit(0)))
    return inner.orderBy('sort_key', direction).orderBy('id', direction)
  }
  return withText(sorted, common_text)
}
