import type * as v from 'valibot'
import type { Context } from '../../context.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { dailyCounts } from '../queries/daily-counts.js'
import { ErrorSummary } from '../queries/error-record.js'
import { loadSummaries } from '../queries/error-summaries.js'
import { type ErrorsFilter, errorsListInput } from './errors-filter.js'
import { listOrder } from './list-order.js'
import { countListed } from './list-tabs.js'
import { type FoundText, type MatchingErrors, matchingErrors } from './matching-errors.js'
import { orderedIds } from './ordered-ids.js'

export {
  type ErrorsFilter,
  type ErrorsListInput,
  errorsListInput,
  SORT_FIELDS,
  UNASSIGNED,
} from './errors-filter.js'
export { tagLines } from './tag-conditions.js'

/** Error as shown in the list. */
export const ListedError = r.named(
  'ListedError',
  r.object({
    ...ErrorSummary.entries,
    /** Occurrences on each of the last seven local days, oldest first. */
    daily_counts: r.list(r.integer),
  }),
)
export type ListedError = v.InferOutput<typeof ListedError>

export const ErrorsPage = r.object({
  errors: r.list(ListedError),
  pagination: r.Pagination,
})
export type ErrorsPage = v.InferOutput<typeof ErrorsPage>

/** Returns one page of the matching errors, newest first by default. */
export const errorsPage = defineOperation({
  input: errorsListInput,
  run: (context, filter): Promise<ErrorsPage> => readErrorsPage(context, filter),
})

/** Returns the errors of one page without pagination. */
export const errorsList = defineOperation({
  input: errorsListInput,
  run: async (context, filter): Promise<ListedError[]> => (await readErrorsPage(context, filter)).errors,
})

/** `found` is the result of `findText` for the same filter, if the caller already has it. */
export async function readErrorsPage(
  context: Context,
  filter: v.InferOutput<typeof errorsListInput>,
  found?: FoundText,
): Promise<ErrorsPage> {
  const { per_page } = filter
  const matching = await matchingErrors(context, filter, found)
  const { count: total_count, isLowerBound } = await countListed(context, matching, filter, found)
  const total_pages = Math.max(1, Math.ceil(total_count / per_page))
  const page = Math.min(filter.page, total_pages)
  const offset = (page - 1) * per_page
  return {
    // Limits the page to the rows that exist. Looking for another row would scan all errors that do not match.
    errors: await loadPage(context, filter, matching, {
      limit: Math.min(per_page, total_count - offset),
      offset,
      total_count,
    }),
    pagination: { page, per_page, total_count, total_pages, ...(isLowerBound ? { total_is_lower_bound: true } : {}) },
  }
}

interface PageSlice {
  limit: number
  offset: number
  total_count: number
}

async function loadPage(
  context: Context,
  filter: ErrorsFilter,
  matching: MatchingErrors,
  { limit, offset, total_count }: PageSlice,
): Promise<ListedError[]> {
  if (limit <= 0) return []
  const { isCountLimited, maxMatches } = matching
  const order = listOrder(filter, context.database.dialect, isCountLimited ? maxMatches : total_count)
  const readShare = isCountLimited || !matching.isNarrowed ? undefined : (offset + limit) / total_count
  const rows = await orderedIds(context, matching, order, readShare).limit(limit).offset(offset).execute()
  const ids = rows.map(({ id }) => id)
  const [counts, summaries] = await Promise.all([dailyCounts(context, ids), loadSummaries(context, ids)])
  return summaries.map((error) => ({ ...error, daily_counts: counts.get(error.id) ?? [] }))
}
