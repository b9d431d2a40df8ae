import type { Context } from '../context.js'
import { lockErrors } from '../store/lock.js'
import { subtractSums } from './subtract-sums.js'

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
    // One by one: for several ids MySQL reads a small table from end to end, and would wait for rows of a flush that in
    // turn waits for these.
    for (const id of found) await trx.deleteFrom('faultboard_errors').where('id', '=', id).execute()
    for (const application_id of new Set(rows.map((row) => row.application_id))) {
      const own = rows.filter((row) => row.application_id === application_id)
      await subtractSums(trx, database.dialect, application_id, own)
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
