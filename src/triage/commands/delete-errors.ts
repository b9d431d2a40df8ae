import type { Context } from '../../context.js'
import { MINUTE } from '../../model/time.js'
import { ACTIVITIES, LEASES } from '../../store/bulk-targets.js'
import { lockErrors } from '../../store/lock.js'
import { eraseErrors } from './erase-errors.js'
import { subtractSums } from './subtract-sums.js'
import type { DeletedError } from './take-hours.js'

const MARK = 'deleting '
/** What was not finished after this time was interrupted. Were it not, two at once do no harm. */
const IN_PROGRESS = 10 * MINUTE
const GROUPS_PER_TRANSACTION = 200
/** A transaction blocks a host with SQLite. */
const SQLITE_GROUPS_PER_TRANSACTION = 5

/**
 * Deletes errors and all that hangs on them, and takes their share out of the application's sums, so that what is left
 * adds up. The groups go first, under their locks: a flush that comes meanwhile waits and then makes a new group. What
 * hangs on them follows in small steps, and a mark stays until it is done.
 */
export async function deleteErrors(
  context: Context,
  ids: readonly number[],
  { application_id }: { application_id?: number | undefined } = {},
): Promise<number> {
  const deleted: DeletedError[] = []
  for (const some of chunks(context, ids)) deleted.push(...(await deleteGroups(context, some, application_id)))
  await finish(context, deleted)
  return deleted.length
}

/** Finishes what a process that ended has begun to delete. */
export async function finishDeletions(context: Context): Promise<void> {
  const { database, now } = context
  const marks = await database.read
    .selectFrom('faultboard_leases')
    .select('name')
    .where('name', 'like', `${MARK}%`)
    .where('expires_at', '<', now())
    .execute()
  for (const some of chunks(context, marks)) {
    const ids = some.map(({ name }) => Number(name.slice(MARK.length)))
    const rows = await database.read
      .selectFrom('faultboard_activities')
      .select(['error_id', 'from_value', 'to_value'])
      .where('error_id', 'in', ids)
      .where('action', '=', 'deleted')
      .execute()
    const left = new Map(rows.map((row) => [row.error_id, row]))
    const deleted = ids.map((id) => ({
      id,
      application_id: Number(left.get(id)?.to_value ?? 0),
      error_type: left.get(id)?.from_value ?? '',
    }))
    await finish(context, deleted)
  }
}

async function deleteGroups(
  { database, outbox, now }: Context,
  ids: readonly number[],
  application_id: number | undefined,
): Promise<DeletedError[]> {
  const { dialect } = database
  return database.write(async (trx) => {
    const locked = await lockErrors(trx, dialect, ids)
    const rows = application_id === undefined ? locked : locked.filter((row) => row.application_id === application_id)
    if (rows.length === 0) return []
    await outbox.settled(trx, rows)
    // One by one: for several ids MySQL reads a small table from end to end, and would wait for rows of a flush that in
    // turn waits for these.
    for (const { id } of rows) await trx.deleteFrom('faultboard_errors').where('id', '=', id).execute()
    await dialect.insertMany(
      trx,
      LEASES,
      rows.map(({ id }) => [`${MARK}${id}`, now() + IN_PROGRESS, 0]),
    )
    // For whoever has to finish it: the sums tell neither.
    await dialect.insertMany(
      trx,
      ACTIVITIES,
      rows.map((row) => [row.id, 'Faultboard', 'deleted', row.error_type, String(row.application_id), null, now()]),
    )
    return rows.map(({ id, application_id, error_type }) => ({ id, application_id, error_type }))
  })
}

async function finish(context: Context, deleted: readonly DeletedError[]): Promise<void> {
  const { database } = context
  for (const some of chunks(context, deleted)) {
    const marks = some.map(({ id }) => `${MARK}${id}`)
    while (await subtractSums(database, some, marks));
    await eraseErrors(
      database,
      some.map(({ id }) => id),
    )
    await database.read.deleteFrom('faultboard_leases').where('name', 'in', marks).execute()
  }
}

function chunks<One>({ database }: Context, all: readonly One[]): One[][] {
  const size = database.dialect.blocks_host ? SQLITE_GROUPS_PER_TRANSACTION : GROUPS_PER_TRANSACTION
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))
}
