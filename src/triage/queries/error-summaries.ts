import type { Context } from '../../context.js'
import { applicationNames } from '../../store/applications.js'
import { sql } from '../../store/kysely.js'
import { oneOf } from '../list/one-of.js'
import { type ErrorSummary, summaryOf } from './error-record.js'

/** These errors in this order, with what lists show of them; what was deleted meanwhile is left out. */
export async function summariesOf(context: Context, ids: readonly number[]): Promise<ErrorSummary[]> {
  if (ids.length === 0) return []
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .selectAll()
    .where(sql<boolean>`id in (${oneOf(ids)})`)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const names = await applicationNames(context.database)
  const now = context.now()
  return ids.flatMap((id) => {
    const row = byId.get(id)
    if (!row) return []
    const application_name = names.get(row.application_id) ?? ''
    return [summaryOf(row, { application_name, user_count: row.user_count ?? 0, now })]
  })
}
