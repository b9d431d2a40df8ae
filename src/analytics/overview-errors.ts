import type { Context } from '../context.js'
import type { Severity } from '../model/severity.js'
import { cleanText } from '../model/text.js'
import type { Status } from '../model/workflow.js'

/** An error as the overview shows it: what it is, where, and how it stands. */
export interface OverviewError {
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
}

/** A line of a message says what it is about; the whole of it stands on the page of the error. */
const MESSAGE_LENGTH = 300

/** The errors with these ids; what was deleted meanwhile is missing. */
export async function overviewErrors(
  { database }: Context,
  ids: readonly number[],
): Promise<Map<number, OverviewError>> {
  if (ids.length === 0) return new Map()
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'application_id', 'error_type', 'message', 'place', 'severity', 'status', 'assigned_to'])
    .select(['occurrence_count', 'first_seen_at', 'occurred_at', 'reopened_at'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(
    rows.map(({ first_seen_at, occurred_at, reopened_at, message, ...row }) => [
      row.id,
      {
        ...row,
        message: cleanText(message, MESSAGE_LENGTH),
        first_seen_at: new Date(first_seen_at).toISOString(),
        occurred_at: new Date(occurred_at).toISOString(),
        reopened_at: reopened_at === null ? null : new Date(reopened_at).toISOString(),
      },
    ]),
  )
}
