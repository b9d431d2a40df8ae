import type * as v from 'valibot'
import type { Context } from '../../context.js'
import { defineOperation } from '../../operation.js'
import { dailyCounts } from '../queries/daily-counts.js'
import type { ErrorSummary } from '../queries/error-record.js'
import { summariesOf } from '../queries/error-summaries.js'
import { type ErrorsFilter, errorsListInput } from './errors-filter.js'
import { listOrder } from './list-order.js'
import { countErrors, type FoundText, type MatchingErrors, matchingErrors } from './matching-errors.js'
import { inOrder } from './ordered-ids.js'

export {
  type ErrorsFilter,
  type ErrorsListInput,
  errorsListInput,
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

/** One page of the matching errors, newest first by default. */
export const errorsPage = defineOperation({
  input: errorsListInput,
  run: (context, filter): Promise<ErrorsPage> => readErrorsPage(context, filter),
})

/** The errors of that page without its pagination. */
export const errorsList = defineOperation({
  input: errorsListInput,
  run: async (context, filter): Promise<ListedError[]> => (await readErrorsPage(context, filter)).errors,
})

/** `found` is the result of `findText` for the same filter, if the caller has it already. */
export async function readErrorsPage(
  context: Context,
  filter: v.InferOutput<typeof errorsListInput>,
  found?: FoundText,
): Promise<ErrorsPage> {
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
