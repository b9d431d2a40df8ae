import type { Context } from '../../context.js'
import { defineOperation } from '../../operation.js'
import type { ErrorSummary } from '../queries/error-record.js'
import { loadSummaries } from '../queries/error-summaries.js'
import { type ErrorsFilter, errorsListInput } from './errors-filter.js'
import { afterRow, listOrder } from './list-order.js'
import { matchingErrors } from './matching-errors.js'
import { orderedIds } from './ordered-ids.js'

/** Limits the rows of a download. `Queries.ExportErrors.csv` has no limit. */
const MAX_DOWNLOADED_ROWS = 50_000
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

/**
 * Matches text that a spreadsheet would execute as a formula, including after stripped characters and in full-width
 * forms.
 */
const FORMULA_START = /^[\s"'\u200B-\u200F\u2060\uFEFF\0]*[=+\-@\t\r＝＋－＠]|^[\t\r]/u

/** Makes spreadsheets decode the file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Exports all matching errors as CSV, in list order. Ignores `page` and `per_page`. */
export const exportErrors = defineOperation({
  input: errorsListInput,
  run: async (context, filter) => csvRows(context, filter, Number.POSITIVE_INFINITY),
})

/** Returns the first 50,000 rows of `exportErrors`. */
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

/** Formats one row according to RFC 4180. */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`
}

function formatCell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA_START.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
