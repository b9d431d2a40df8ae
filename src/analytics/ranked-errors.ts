import type { Context } from '../context.js'
import type { Severity } from '../model/severity.js'
import { cleanText } from '../model/text.js'
import { isoTime } from '../model/time.js'
import type { Status } from '../model/workflow.js'

/** An error as rankings, the overview and other errors name it: what it is, where, and how it stands. */
export interface RankedError {
  id: number
  application_id: number
  error_type: string
  message: string
  place: string | null
  severity: Severity
  status: Status
  assigned_to: string | null
  occurrence_count: number
  first_seen_at: string
  occurred_at: string
  reopened_at: string | null
  /** The newer release in which it came back after it had been resolved. */
  regressed_in_version: string | null
}

/** A line of a message says what it is about; the whole of it stands on the page of the error. */
const MESSAGE_LENGTH = 300

/** The errors with these ids, of one application or of all; what was deleted meanwhile is missing. */
export async function rankedErrors(
  { database }: Context,
  ids: readonly number[],
  application_id?: number | undefined,
): Promise<Map<number, RankedError>> {
  if (ids.length === 0) return new Map()
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'application_id', 'error_type', 'message', 'place', 'severity', 'status', 'assigned_to'])
    .select(['occurrence_count', 'first_seen_at', 'occurred_at', 'reopened_at', 'regressed_in_version'])
    .where('id', 'in', [...new Set(ids)])
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .execute()
  return new Map(
    rows.map(({ first_seen_at, occurred_at, reopened_at, message, ...row }) => [
      row.id,
      {
        ...row,
        message: cleanText(message, MESSAGE_LENGTH),
        first_seen_at: new Date(first_seen_at).toISOString(),
        occurred_at: new Date(occurred_at).toISOString(),
        reopened_at: isoTime(reopened_at),
      },
    ]),
  )
}

/** Ranked rows with their errors; what was deleted meanwhile is left out. */
export async function withErrors<Row extends { id: number }>(
  context: Context,
  rows: readonly Row[],
): Promise<(Row & RankedError)[]> {
  const errors = await rankedErrors(
    context,
    rows.map(({ id }) => id),
  )
  return rows.flatMap((row) => {
    const error = errors.get(row.id)
    return error ? [{ ...row, ...error }] : []
  })
}

/** The first few by a figure, the older error first where it is the same. */
export function firstBy<Row extends { id: number }>(
  rows: readonly Row[],
  figure: (row: Row) => number,
  limit: number,
): Row[] {
  return [...rows].sort((a, b) => figure(b) - figure(a) || a.id - b.id).slice(0, limit)
}
