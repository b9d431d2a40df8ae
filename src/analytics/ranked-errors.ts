import type * as v from 'valibot'
import type { Context } from '../context.js'
import { ALL_ERRORS, type Scope } from '../model/input/scope.js'
import * as r from '../model/result.js'
import { cleanText } from '../model/text.js'
import { isoTime } from '../model/time.js'
import { errorsInScope } from './sums/scope-conditions.js'

/** Error as shown in rankings, on the overview and next to related errors. */
export const RankedError = r.named(
  'RankedError',
  r.object({
    id: r.integer,
    application_id: r.integer,
    error_type: r.text,
    message: r.text,
    place: r.nullable(r.text),
    severity: r.severity,
    status: r.status,
    assigned_to: r.nullable(r.text),
    occurrence_count: r.integer,
    first_seen_at: r.time,
    occurred_at: r.time,
    reopened_at: r.nullable(r.time),
    /** Newer release in which the error regressed after it was resolved. */
    regressed_in_version: r.nullable(r.text),
  }),
)
export type RankedError = v.InferOutput<typeof RankedError>

/** Rankings show one line of the message. The error page shows the full text. */
const MAX_MESSAGE_LENGTH = 300

/** Loads errors by id, optionally of one scope. Omits deleted errors. */
export async function loadRankedErrors(
  context: Context,
  ids: readonly number[],
  scope?: Scope,
): Promise<Map<number, RankedError>> {
  if (ids.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'application_id', 'error_type', 'message', 'place', 'severity', 'status', 'assigned_to'])
    .select(['occurrence_count', 'first_seen_at', 'occurred_at', 'reopened_at', 'regressed_in_version'])
    .where('id', 'in', [...new Set(ids)])
    .$if(scope !== undefined, (query) => query.where(errorsInScope(context, scope ?? ALL_ERRORS)))
    .execute()
  return new Map(
    rows.map(({ first_seen_at, occurred_at, reopened_at, message, ...row }) => [
      row.id,
      {
        ...row,
        message: cleanText(message, MAX_MESSAGE_LENGTH),
        first_seen_at: new Date(first_seen_at).toISOString(),
        occurred_at: new Date(occurred_at).toISOString(),
        reopened_at: isoTime(reopened_at),
      },
    ]),
  )
}

/** Adds the errors to ranked rows. Omits deleted errors. */
export async function withErrors<Row extends { id: number }>(
  context: Context,
  rows: readonly Row[],
): Promise<(Row & RankedError)[]> {
  const errors = await loadRankedErrors(
    context,
    rows.map(({ id }) => id),
  )
  return rows.flatMap((row) => {
    const error = errors.get(row.id)
    return error ? [{ ...row, ...error }] : []
  })
}

/** Returns the top rows by a figure. Older errors come first on ties. */
export function topBy<Row extends { id: number }>(
  rows: readonly Row[],
  figure: (row: Row) => number,
  limit: number,
): Row[] {
  const compare = (a: Row, b: Row) => figure(b) - figure(a) || a.id - b.id
  const top: Row[] = []
  // Sorting all rows takes longer, because most of them rank below the limit.
  for (const row of rows) {
    const last = top[limit - 1]
    if (last && compare(last, row) <= 0) continue
    top.push(row)
    top.sort(compare).splice(limit)
  }
  return top
}
