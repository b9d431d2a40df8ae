import type { Context } from '../../context.js'
import { parseInput } from '../../model/input.js'
import type { ErrorSummary } from '../queries/error-record.js'
import { summariesOf } from '../queries/error-summaries.js'
import { csvRow } from './csv.js'
import { errorsListInput } from './errors-filter.js'
import { after, listOrder } from './list-order.js'
import { matchingErrors } from './matching-errors.js'
import { inOrder } from './ordered-ids.js'

const EXPORT_LIMIT = 50_000
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

/**
 * All errors that fit the filter as CSV, in the order of the list, a batch at a time; `page` and `per_page` mean
 * nothing here. It ends after 50,000 rows unless more are asked for.
 */
export async function* exportErrors(
  context: Context,
  input: unknown,
  { limit = EXPORT_LIMIT }: { limit?: number } = {},
): AsyncGenerator<string> {
  const filter = parseInput(errorsListInput, input ?? {})
  await context.ready()
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
