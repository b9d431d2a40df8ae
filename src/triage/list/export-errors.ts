import type { Context } from '../../context.js'
import { defineOperation } from '../../operation.js'
import type { ErrorSummary } from '../queries/error-record.js'
import { summariesOf } from '../queries/error-summaries.js'
import { csvRow } from './csv.js'
import { type ErrorsFilter, errorsListInput } from './errors-filter.js'
import { after, listOrder } from './list-order.js'
import { matchingErrors } from './matching-errors.js'
import { inOrder } from './ordered-ids.js'

/** Limits the rows of a download. `Queries.ExportErrors.csv` has no limit. */
const MAX_DOWNLOADED_ROWS = 50_000
const BATCH = 500

const COLUMNS = [
  'id',
  'application_name',
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

/** By this mark spreadsheets know that the text is UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/** All matching errors as CSV, in the order of the list. Ignores `page` and `per_page`. */
export const exportErrors = defineOperation({
  input: errorsListInput,
  run: async (context, filter) => csvRows(context, filter, Number.POSITIVE_INFINITY),
})

/** The first 50,000 rows of `exportErrors`. */
export function downloadedErrors(context: Context, filter: ErrorsFilter): AsyncGenerator<string> {
  return csvRows(context, filter, MAX_DOWNLOADED_ROWS)
}

async function* csvRows(context: Context, filter: ErrorsFilter, limit: number): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvRow(COLUMNS)
  const matching = await matchingErrors(context, filter)
  const order = listOrder(filter, context.database.dialect, matching.at_most)
  let last: { id: number; sort_key: string | number } | undefined
  for (let written = 0; written < limit; written += BATCH) {
    const seen = last
    const query = () => (seen ? matching.query().where(after(order, seen)) : matching.query())
    const rows = await inOrder(context, { ...matching, query }, order)
      .limit(BATCH)
      .execute()
    const errors = await summariesOf(
      context,
      rows.map(({ id }) => id),
    )
    yield errors.map((error) => csvRow(COLUMNS.map((column) => error[column]))).join('')
    last = rows.at(-1)
    if (rows.length < BATCH || !last) return
  }
}
