import type { Context } from '../../context.js'
import { errorNotFound } from '../../model/errors.js'
import { versionIn } from '../../model/releases.js'
import type { Updateable } from '../../store/kysely.js'
import { type ErrorRow, lockErrors } from '../../store/lock.js'
import { createNewestReleaseLookup, releaseReporter } from '../../store/releases.js'
import type { ErrorsTable } from '../../store/schema.js'

/** What a command did to one error. */
export interface ChangeResult {
  /** False where the error was so already: then nothing is written, also not in the activity trail. */
  changed: boolean
}

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
export const REFERENCE_LIMIT = 2000
/** Who changes something from code without saying who. */
export const NOBODY_NAMED = 'system'

/** Changes one error under its row lock and records the activity in the same transaction; null changes nothing. */
export async function changeError(
  context: Context,
  error_id: number,
  change: (row: ErrorRow) => Change | null,
): Promise<ChangeResult> {
  const { changed, unchanged } = await changeErrors(context, [error_id], change)
  if (changed + unchanged === 0) throw errorNotFound(error_id)
  return { changed: changed > 0 }
}

/** The same for several; ids that do not exist, or belong to another application than the one named, are passed over. */
export async function changeErrors(
  { database, outbox, now }: Context,
  ids: readonly number[],
  change: (row: ErrorRow) => Change | null,
  { application_id }: { application_id?: number | undefined } = {},
): Promise<{ changed: number; unchanged: number }> {
  return database.write(async (trx) => {
    const locked = await lockErrors(trx, database.dialect, ids)
    const rows = application_id === undefined ? locked : locked.filter((row) => row.application_id === application_id)
    const newestRelease = createNewestReleaseLookup(trx)
    const settled: ErrorRow[] = []
    let changed = 0
    for (const row of rows) {
      const wanted = change(row)
      if (wanted === null) continue
      changed++
      const { activity } = wanted
      if (wanted.set.resolved === 1 && row.resolved === 0) settled.push(row)
      const set = { ...wanted.set, ...(await releaseAfter(newestRelease, row, wanted.set)) }
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
    if (settled.length > 0) await outbox.settled(trx, settled)
    return { changed, unchanged: rows.length - changed }
  })
}

/** What is resolved now is resolved in the newest release of its platform; what is opened again in none. */
async function releaseAfter(
  newestRelease: ReturnType<typeof createNewestReleaseLookup>,
  row: ErrorRow,
  { resolved, resolved_at }: Updateable<ErrorsTable>,
): Promise<Updateable<ErrorsTable>> {
  if (resolved === 0) return { resolved_in_version: null }
  if (resolved !== 1 || row.resolved === 1) return {}
  const { application_id, platform } = row
  const at = resolved_at ?? Number.MAX_SAFE_INTEGER
  const newest = await newestRelease({ application_id, reporter: releaseReporter(row), platform, at })
  return { resolved_in_version: newest ? versionIn(newest.name) : null, regressed_in_version: null }
}
