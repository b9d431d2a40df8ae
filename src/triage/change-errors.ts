import type { Context } from '../context.js'
import type { Transaction, Updateable } from '../store/kysely.js'
import { type ErrorRow, lockErrors } from '../store/lock.js'
import { newestRelease, releasesOf } from '../store/releases.js'
import type { ErrorsTable, Schema } from '../store/schema.js'
import { noSuchError } from './find-error.js'

/** What a command does to one error: the new values, and how the activity trail tells it. */
export interface Change {
  set: Updateable<ErrorsTable>
  activity: Trail
}

export interface Trail {
  actor: string
  action: string
  from_value?: string | null | undefined
  to_value?: string | null | undefined
  comment?: string | null | undefined
}

export const NAME_LIMIT = 255
export const TEXT_LIMIT = 10_000
/** Who changes something from code without saying who. */
export const NOBODY_NAMED = 'system'

/** Changes one error under its row lock and records the activity in the same transaction. */
export async function changeError(
  context: Context,
  error_id: number,
  change: (row: ErrorRow) => Change,
): Promise<void> {
  const changed = await changeErrors(context, [error_id], change)
  if (changed === 0) throw noSuchError(error_id)
}

/**
 * The same for several; ids that do not exist, or belong to another application than the one named, are passed over.
 * Gives how many were changed.
 */
export async function changeErrors(
  { database, now }: Context,
  ids: readonly number[],
  change: (row: ErrorRow) => Change,
  { application_id }: { application_id?: number | undefined } = {},
): Promise<number> {
  return database.write(async (trx) => {
    const locked = await lockErrors(trx, database.dialect, ids)
    const rows = application_id === undefined ? locked : locked.filter((row) => row.application_id === application_id)
    for (const row of rows) {
      const { set: changed, activity } = change(row)
      const set = { ...changed, ...(await releaseAfter(trx, row, changed)) }
      if (Object.keys(set).length > 0)
        await trx.updateTable('faultboard_errors').set(set).where('id', '=', row.id).execute()
      await trx
        .insertInto('faultboard_activities')
        .values({
          error_id: row.id,
          actor: activity.actor,
          action: activity.action,
          from_value: activity.from_value ?? null,
          to_value: activity.to_value ?? null,
          comment: activity.comment ?? null,
          created_at: now(),
        })
        .execute()
    }
    return rows.length
  })
}

/** What is resolved now is resolved in the newest release of its platform; what is opened again in none. */
async function releaseAfter(
  trx: Transaction<Schema>,
  row: ErrorRow,
  { resolved, resolved_at }: Updateable<ErrorsTable>,
): Promise<Updateable<ErrorsTable>> {
  if (resolved === 0) return { resolved_in_version: null }
  if (resolved !== 1 || row.resolved === 1) return {}
  const newest = newestRelease(await releasesOf(trx, row.application_id), row.platform, resolved_at ?? Number.MAX_VALUE)
  return { resolved_in_version: newest?.version ?? null, regressed_in_version: null }
}
