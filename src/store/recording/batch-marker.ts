import { BATCHES } from '../bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Kysely, Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'

/** Written in the transaction of the batch: what is tried again after an unclear end finds it, and is not counted twice. */
export async function mark(
  trx: Transaction<Schema>,
  dialect: Dialect,
  batch_ids: readonly string[],
  now: number,
): Promise<void> {
  // Sorted, so that processes that hold the same files take the locks in one order.
  const rows = [...batch_ids].sort().map((batch_id) => [batch_id, now])
  await dialect.insertMany(trx, BATCHES, rows)
}

export async function unmark(trx: Transaction<Schema>, batch_id: string): Promise<void> {
  await trx.deleteFrom('faultboard_batches').where('batch_id', '=', batch_id).execute()
}

export async function isMarked(db: Kysely<Schema>, batch_id: string): Promise<boolean> {
  const row = await db
    .selectFrom('faultboard_batches')
    .select('batch_id')
    .where('batch_id', '=', batch_id)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the ids that were written before. */
export async function markedAmong(db: Kysely<Schema>, batch_ids: readonly string[]): Promise<Set<string>> {
  if (batch_ids.length === 0) return new Set()
  const rows = await db.selectFrom('faultboard_batches').select('batch_id').where('batch_id', 'in', batch_ids).execute()
  return new Set(rows.map(({ batch_id }) => batch_id))
}
