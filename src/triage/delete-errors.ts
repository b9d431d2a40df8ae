import type { Context } from '../context.js'
import { sql, type Transaction } from '../store/kysely.js'
import { lockErrors } from '../store/lock.js'
import type { Schema } from '../store/schema.js'

const CHILDREN = [
  'faultboard_error_search',
  'faultboard_payloads',
  'faultboard_occurrences',
  'faultboard_error_hours',
  'faultboard_error_users',
  'faultboard_comments',
  'faultboard_activities',
  'faultboard_error_features',
  'faultboard_cascade_parents',
] as const

/**
 * Deletes errors and all that hangs on them, and takes their share out of the application's sums, so that what is left
 * adds up. The groups go first, under their locks: a flush that comes meanwhile waits and then makes a new group.
 */
export async function deleteErrors(
  { database }: Context,
  ids: readonly number[],
  { application_id }: { application_id?: number | undefined } = {},
): Promise<number> {
  return database.write(async (trx) => {
    const locked = await lockErrors(trx, database.dialect, ids)
    const rows = application_id === undefined ? locked : locked.filter((row) => row.application_id === application_id)
    if (rows.length === 0) return 0
    const found = rows.map(({ id }) => id)
    await trx.deleteFrom('faultboard_errors').where('id', 'in', found).execute()
    for (const application_id of new Set(rows.map((row) => row.application_id))) {
      await subtractSums(
        trx,
        application_id,
        rows.filter((row) => row.application_id === application_id).map(({ id }) => id),
      )
    }
    for (const table of CHILDREN) await trx.deleteFrom(table).where('error_id', 'in', found).execute()
    for (const table of ['faultboard_cascades', 'faultboard_cascade_hours'] as const) {
      await trx
        .deleteFrom(table)
        .where(({ eb, or }) => or([eb('parent_error_id', 'in', found), eb('child_error_id', 'in', found)]))
        .execute()
    }
    return found.length
  })
}

async function subtractSums(trx: Transaction<Schema>, application_id: number, ids: readonly number[]): Promise<void> {
  const sums = await trx
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['hour', 'severity', 'platform', 'app_version', fn.sum<number>('count').as('count')])
    .where('error_id', 'in', ids)
    .groupBy(['hour', 'severity', 'platform', 'app_version'])
    .orderBy('hour')
    .orderBy('severity')
    .orderBy('platform')
    .orderBy('app_version')
    .execute()
  for (const { hour, severity, platform, app_version, count } of sums) {
    const row = { application_id, hour, severity, platform, app_version }
    await trx
      .updateTable('faultboard_application_hours')
      .set({ count: sql`${sql.ref('count')} - ${count}` })
      .where(({ and }) => and(row))
      .execute()
  }
  await trx
    .deleteFrom('faultboard_application_hours')
    .where('application_id', '=', application_id)
    .where('count', '<=', 0)
    .execute()
}
