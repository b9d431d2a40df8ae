import type { Severity } from '../../model/severity.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'

/** An hour of a deleted error, with what its sums are found by. */
export interface DeletedHour {
  error_id: number
  application_id: number
  error_type: string
  hour: number
  severity: Severity
  platform: string
  app_version: string
  count: number
}

/** Reads and deletes the next hours: whole hours, of which one alone may be more than the limit. */
export async function takeHours(
  trx: Transaction<Schema>,
  errors: readonly DeletedError[],
  limit: number,
): Promise<{ hours: DeletedHour[]; has_more: boolean }> {
  const known = new Map(errors.map((error) => [error.id, error]))
  const ids = [...known.keys()]
  const last = await trx
    .selectFrom('faultboard_error_hours')
    .select(['error_id', 'hour'])
    .where('error_id', 'in', ids)
    .orderBy('error_id')
    .orderBy('hour')
    .offset(limit - 1)
    .limit(1)
    .executeTakeFirst()
  const whole = last ? ids.filter((id) => id < last.error_id) : ids
  const spans = whole.length > 0 ? [{ error_ids: whole, until: Number.MAX_SAFE_INTEGER }] : []
  if (last) spans.push({ error_ids: [last.error_id], until: last.hour })
  const hours: DeletedHour[] = []
  for (const { error_ids, until } of spans) {
    const rows = await trx
      .selectFrom('faultboard_error_hours')
      .selectAll()
      .where('error_id', 'in', error_ids)
      .where('hour', '<=', until)
      .execute()
    await trx
      .deleteFrom('faultboard_error_hours')
      .where('error_id', 'in', error_ids)
      .where('hour', '<=', until)
      .execute()
    for (const row of rows) {
      const error = known.get(row.error_id)
      if (error) hours.push({ ...row, application_id: error.application_id, error_type: error.error_type })
    }
  }
  return { hours, has_more: last !== undefined }
}

/** An error whose group is gone, and what is still to be taken out of the sums. */
export interface DeletedError {
  id: number
  application_id: number
  error_type: string
}
