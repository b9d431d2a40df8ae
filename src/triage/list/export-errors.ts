import type { Context } from '../../context.js'
import { BYTE_ORDER_MARK, csvRow, MAX_DOWNLOADED_ROWS } from '../../model/csv.js'
import { defineOperation } from '../../operation.js'
import type { ErrorSummary } from '../queries/error-record.js'
import { loadSummaries } from '../queries/error-summaries.js'
import { type ErrorsFilter, errorsListInput } from './errors-filter.js'
import { afterRow, listOrder } from './list-order.js'
import { matchingErrors } from './matching-errors.js'
import { orderedIds } from './ordered-ids.js'

const ROWS_PER_BATCH = 500

const COLUMNS = [
  'id',
  'application_name',
  'environment',
  'error_type',
  'message',
  'place',
  'severity',
  'status',
  'priority_level',
  'assigned_to',
  'platform',
  'app_version',
  'occurrence_count',
  'user_count',
  'first_seen_at',
  'occurred_at',
  'resolved_at',
  'hash_signature',
] as const satisfies readonly (keyof ErrorSummary)[]

/** Exports all matching errors as CSV, in list order. Ignores `page` and `per_page`. */
export const exportErrors = defineOperation({
  input: errorsListInput,
  run: async (context, filter) => csvRows(context, filter, Number.POSITIVE_INFINITY),
})

/** Returns the first rows of `exportErrors`, which has no limit. */
export function downloadedErrors(context: Context, filter: ErrorsFilter): AsyncGenerator<string> {
  return csvRows(context, filter, MAX_DOWNLOADED_ROWS)
}

async function* csvRows(context: Context, filter: ErrorsFilter, limit: number): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvRow(COLUMNS)
  const matching = await matchingErrors(context, filter)
  const order = listOrder(filter, context.database.dialect, matching.maxMatches)
  let lastRow: { id: number; sort_key: string | number } | undefined
  for (let written = 0; written < limit; written += ROWS_PER_BATCH) {
    const previousRow = lastRow
    const query = () => (previousRow ? matching.query().where(afterRow(order, previousRow)) : matching.query())
    const rows = await orderedIds(context, { ...matching, query }, order)
      .limit(ROWS_PER_BATCH)
      .execute()
    const errors = await loadSummaries(
      context,
      rows.map(({ id }) => id),
    )
    yield errors.map((error) => csvRow(COLUMNS.map((column) => error[column]))).join('')
    lastRow = rows.at(-1)
    if (rows.length < ROWS_PER_BATCH || !lastRow) return
  }
}
