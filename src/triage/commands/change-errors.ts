import type { Context } from '../../context.js'
import { errorNotFound } from '../../model/errors.js'
import { isInScope, type Scope } from '../../model/input/scope.js'
import type { AuditAction, AuditedChange } from '../../model/people/audit.js'
import { releaseVersion } from '../../model/releases/releases.js'
import type { Updateable } from '../../store/kysely.js'
import type { Assignment } from '../../store/recording/outbox.js'
import { createNewestReleaseLookup, releaseReporter } from '../../store/releases.js'
import type { ErrorsTable } from '../../store/schema.js'
import { type ErrorRow, lockErrors } from '../../store/sql/row-locks.js'

/** Result of a command on one error. */
export interface ChangeResult {
  /** False if the error already had the requested state. Then nothing is written, not even to the activity trail. */
  changed: boolean
}

/** New column values and the entry for the activity trail. */
export interface Change {
  set: Updateable<ErrorsTable>
  activity: ActivityEntry
}

export interface ActivityEntry {
  actor: string
  action: string
  from_value?: string | null | undefined
  to_value?: string | null | undefined
  comment?: string | null | undefined
}

export const MAX_NAME_LENGTH = 255
export const MAX_TEXT_LENGTH = 10_000
export const MAX_REFERENCE_LENGTH = 2000
/** Actor for callers that pass no actor. */
export const DEFAULT_ACTOR = 'system'

/** Entry of the Audit page for a command on one error. */
export function auditError(
  action: AuditAction,
  { error_id }: { error_id: number },
  { changed }: ChangeResult,
  detail?: string,
): AuditedChange | null {
  return changed ? { action, error_id, ...(detail !== undefined && { detail }) } : null
}

/**
 * Changes one error under its row lock and adds the activity in the same transaction. `change` returns null to do
 * nothing.
 */
export async function changeError(
  context: Context,
  error_id: number,
  change: (row: ErrorRow) => Change | null,
): Promise<ChangeResult> {
  const { changed, unchanged } = await changeErrors(context, [error_id], change)
  if (changed + unchanged === 0) throw errorNotFound(error_id)
  return { changed: changed > 0 }
}

/** Like `changeError` for several errors. Skips ids that do not exist or are not in the scope. */
export async function changeErrors(
  { database, outbox, now }: Context,
  ids: readonly number[],
  change: (row: ErrorRow) => Change | null,
  scope: Partial<Scope> = {},
): Promise<{ changed: number; unchanged: number }> {
  return database.write(async (trx) => {
    const locked = await lockErrors(trx, database.dialect, ids)
    const rows = locked.filter((row) => isInScope(row, scope))
    const newestRelease = createNewestReleaseLookup(trx)
    const closedErrors: ErrorRow[] = []
    const assignedErrors: ErrorRow[] = []
    let assignment: Assignment | null = null
    let changed = 0
    for (const row of rows) {
      const requested = change(row)
      if (requested === null) continue
      changed++
      const { activity } = requested
      if (requested.set.resolved === 1 && row.resolved === 0) closedErrors.push(row)
      if (requested.set.assigned_to) {
        assignedErrors.push(row)
        assignment = { assigned_to: requested.set.assigned_to, actor: activity.actor }
      }
      const set = { ...requested.set, ...(await releaseColumns(newestRelease, row, requested.set)) }
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
    if (closedErrors.length > 0) await outbox.settled(trx, closedErrors)
    if (assignment) await outbox.assigned(trx, assignedErrors, assignment)
    return { changed, unchanged: rows.length - changed }
  })
}

/**
 * On resolution, sets `resolved_in_version` to the newest release of the platform and environment. Clears the column on
 * reopening.
 */
async function releaseColumns(
  newestRelease: ReturnType<typeof createNewestReleaseLookup>,
  row: ErrorRow,
  { resolved, resolved_at }: Updateable<ErrorsTable>,
): Promise<Updateable<ErrorsTable>> {
  if (resolved === 0) return { resolved_in_version: null }
  if (resolved !== 1 || row.resolved === 1) return {}
  const { application_id, environment, platform } = row
  const at = resolved_at ?? Number.MAX_SAFE_INTEGER
  const newest = await newestRelease({ application_id, environment, reporter: releaseReporter(row), platform, at })
  return { resolved_in_version: newest ? releaseVersion(newest.name) : null, regressed_in_version: null }
}
