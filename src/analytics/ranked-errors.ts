import type { Context } from '../context.js'
import type { Severity } from '../model/severity.js'
import type { Status } from '../model/workflow.js'

/** An error as rankings show it. */
export interface RankedError {
  id: number
  error_type: string
  message: string
  place: string | null
  severity: Severity
  status: Status
  first_seen_at: string
  occurred_at: string
}

/** Messages may be long, and a ranking shows one line. */
const MESSAGE_LIMIT = 300

/** The errors behind the ids, by id. */
export async function rankedErrors({ database }: Context, ids: readonly number[]): Promise<Map<number, RankedError>> {
  if (ids.length === 0) return new Map()
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'error_type', 'message', 'place', 'severity', 'status', 'first_seen_at', 'occurred_at'])
    .where('id', 'in', [...ids])
    .execute()
  return new Map(
    rows.map((row) => [
      row.id,
      {
        ...row,
        message: row.message.slice(0, MESSAGE_LIMIT),
        first_seen_at: new Date(row.first_seen_at).toISOString(),
        occurred_at: new Date(row.occurred_at).toISOString(),
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
