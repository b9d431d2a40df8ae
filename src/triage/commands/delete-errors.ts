import type { Context } from '../../context.js'
import { DEFAULT_ENVIRONMENT } from '../../model/environment.js'
import { isInScope, type Scope } from '../../model/input/scope.js'
import { MINUTE } from '../../model/time.js'
import { ACTIVITIES, LEASES } from '../../store/bulk/bulk-targets.js'
import { lockErrors } from '../../store/sql/row-locks.js'
import { deleteErrorData } from './delete-error-data.js'
import type { DeletedError } from './subtract-sums.js'
import { subtractSums } from './subtract-sums.js'

const MARKER_PREFIX = 'deleting '
/** A deletion older than this counts as interrupted and is resumed. Resuming a running deletion is harmless. */
const DELETION_TIMEOUT_MS = 10 * MINUTE
const GROUPS_PER_TRANSACTION = 200
/** Small, because a transaction blocks the host's event loop on SQLite. */
const SQLITE_GROUPS_PER_TRANSACTION = 5

interface DeletionOptions extends Partial<Scope> {
  /** Receives the number of errors that each transaction deleted, even if a later transaction fails. */
  onDeleted?(count: number): void
}

/**
 * Deletes errors with all their data and subtracts their counts from the sums. Deletes the error rows first, under
 * their locks: a concurrent flush waits and then creates a new error. The remaining data follows in small steps. A
 * marker stays until all steps are done.
 */
export async function deleteErrors(
  context: Context,
  ids: readonly number[],
  { onDeleted, ...scope }: DeletionOptions = {},
): Promise<number> {
  const deleted: DeletedError[] = []
  for (const batch of splitIntoBatches(context, ids)) {
    const rows = await deleteErrorRows(context, batch, scope)
    deleted.push(...rows)
    onDeleted?.(rows.length)
  }
  await finishDeletion(context, deleted)
  return deleted.length
}

/** Finishes deletions that were interrupted when a process stopped. */
export async function finishDeletions(context: Context): Promise<void> {
  const { database, now } = context
  const markers = await database.read
    .selectFrom('faultboard_leases')
    .select('name')
    .where('name', 'like', `${MARKER_PREFIX}%`)
    .where('expires_at', '<', now())
    .execute()
  for (const batch of splitIntoBatches(context, markers)) {
    const ids = batch.map(({ name }) => Number(name.slice(MARKER_PREFIX.length)))
    const rows = await database.read
      .selectFrom('faultboard_activities')
      .select(['error_id', 'from_value', 'to_value', 'comment'])
      .where('error_id', 'in', ids)
      .where('action', '=', 'deleted')
      .execute()
    const activities = new Map(rows.map((row) => [row.error_id, row]))
    const deleted = ids.map((id) => ({
      id,
      application_id: Number(activities.get(id)?.to_value ?? 0),
      environment: activities.get(id)?.comment ?? DEFAULT_ENVIRONMENT,
      error_type: activities.get(id)?.from_value ?? '',
    }))
    await finishDeletion(context, deleted)
  }
}

async function deleteErrorRows(
  { database, outbox, now }: Context,
  ids: readonly number[],
  scope: Partial<Scope>,
): Promise<DeletedError[]> {
  const { dialect } = database
  return database.write(async (trx) => {
    const locked = await lockErrors(trx, dialect, ids)
    const rows = locked.filter((row) => isInScope(row, scope))
    if (rows.length === 0) return []
    await outbox.settled(trx, rows)
    // Deletes one row per statement. With several ids, MySQL may scan a small table and deadlock with a flush.
    for (const { id } of rows) await trx.deleteFrom('faultboard_errors').where('id', '=', id).execute()
    await dialect.insertMany(
      trx,
      LEASES,
      rows.map(({ id }) => [`${MARKER_PREFIX}${id}`, now() + DELETION_TIMEOUT_MS, 0]),
    )
    // Stores type, application and environment, which are needed to resume an interrupted deletion.
    await dialect.insertMany(
      trx,
      ACTIVITIES,
      rows.map((row) => [
        ...[row.id, 'Faultboard', 'deleted', row.error_type, String(row.application_id), row.environment, now()],
      ]),
    )
    return rows.map(({ id, application_id, environment, error_type }) => ({
      ...{ id, application_id, environment, error_type },
    }))
  })
}

async function finishDeletion(context: Context, deleted: readonly DeletedError[]): Promise<void> {
  const { database } = context
  for (const batch of splitIntoBatches(context, deleted)) {
    const markers = batch.map(({ id }) => `${MARKER_PREFIX}${id}`)
    while (await subtractSums(database, batch, markers));
    await deleteErrorData(
      database,
      batch.map(({ id }) => id),
    )
    await database.read.deleteFrom('faultboard_leases').where('name', 'in', markers).execute()
  }
}

function splitIntoBatches<Item>({ database }: Context, items: readonly Item[]): Item[][] {
  const size = database.dialect.blocksHost ? SQLITE_GROUPS_PER_TRANSACTION : GROUPS_PER_TRANSACTION
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
