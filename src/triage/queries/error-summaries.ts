import type { Context } from '../../context.js'
import { applicationNames } from '../../store/applications.js'
import { sql } from '../../store/kysely.js'
import { paddedIdList } from '../list/padded-id-list.js'
import { type ErrorSummary, toSummary } from './error-record.js'

/** Loads summaries of errors in the given order. Omits deleted errors. */
export async function loadSummaries(context: Context, ids: readonly number[]): Promise<ErrorSummary[]> {
  if (ids.length === 0) return []
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .selectAll()
    .where(sql<boolean>`id in (${paddedIdList(ids)})`)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const names = await applicationNames(context.database)
  const now = context.now()
  return ids.flatMap((id) => {
    const row = byId.get(id)
    if (!row) return []
    const application_name = names.get(row.application_id) ?? ''
    return [toSummary(row, { application_name, user_count: row.user_count ?? 0, now })]
  })
}
