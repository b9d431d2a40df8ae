import type { Context } from '../../context.js'
import { applicationNames } from '../../store/applications.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { type Selectable, sql } from '../../store/kysely.js'
import { type ErrorsTable, TABLES } from '../../store/schema.js'
import { paddedIdList } from '../list/padded-id-list.js'
import { type ErrorSummary, toSummary } from './error-record.js'

const COLUMNS = Object.keys(TABLES.faultboard_errors.columns) as (keyof Selectable<ErrorsTable>)[]

/** Loads summaries of errors in the given order. Omits deleted errors. */
export async function loadSummaries(context: Context, ids: readonly number[]): Promise<ErrorSummary[]> {
  if (ids.length === 0) return []
  const query = context.database.read
    .selectFrom('faultboard_errors')
    .selectAll()
    .where(sql<boolean>`id in (${paddedIdList(ids)})`)
  const [rows, names] = await Promise.all([
    packedRows(context.database, query, COLUMNS),
    applicationNames(context.database),
  ])
  const byId = new Map(rows.map((row) => [row.id, row]))
  const now = context.now()
  return ids.flatMap((id) => {
    const row = byId.get(id)
    if (!row) return []
    const application_name = names.get(row.application_id) ?? ''
    return [toSummary(row, { application_name, user_count: row.user_count ?? 0, now })]
  })
}
