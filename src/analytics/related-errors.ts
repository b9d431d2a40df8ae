import type { Context } from '../context.js'
import type { Severity } from '../model/severity.js'
import type { Status } from '../model/workflow.js'

/** An error as others name it. Times are ISO 8601 in UTC. */
export interface RelatedError {
  id: number
  application_id: number
  error_type: string
  message: string
  place: string | null
  severity: Severity
  status: Status
  occurrence_count: number
  occurred_at: string
}

const MESSAGE_LIMIT = 500

/** The errors with these ids, of one application or of all. */
export async function relatedErrors(
  { database }: Context,
  ids: readonly number[],
  application_id?: number | undefined,
): Promise<Map<number, RelatedError>> {
  if (ids.length === 0) return new Map()
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'application_id', 'error_type', 'message', 'place', 'severity', 'status'])
    .select(['occurrence_count', 'occurred_at'])
    .where('id', 'in', ids)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .execute()
  return new Map(
    rows.map((row) => [
      row.id,
      { ...row, message: row.message.slice(0, MESSAGE_LIMIT), occurred_at: new Date(row.occurred_at).toISOString() },
    ]),
  )
}
