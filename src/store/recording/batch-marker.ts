import { BATCHES } from '../bulk/bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Kysely, Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'

/** Stores the ids in the transaction of the batch, so that a retry after an unknown result is not counted twice. */
export async function markBatches(
  trx: Transaction<Schema>,
  dialect: Dialect,
  batch_ids: readonly string[],
  now: number,
): Promise<void> {
  // Sorted, so that processes that import the same files cannot deadlock.
  const rows = [...batch_ids].sort().map((batch_id) => [batch_id, now])
  await dialect.insertMany(trx, BATCHES, rows)
}

export async function unmarkBatch(trx: Transaction<Schema>, batch_id: string): Promise<void> {
  await trx.deleteFrom('faultboard_batches').where('batch_id', '=', batch_id).execute()
}

export async function isBatchMarked(db: Kysely<Schema>, batch_id: string): Promise<boolean> {
  const row = await db
    .selectFrom('faultboard_batches')
    .select('batch_id')
    .where('batch_id', '=', batch_id)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the ids that were written before. */
export async function findMarkedBatches(db: Kysely<Schema>, batch_ids: readonly string[]): Promise<Set<string>> {
  if (batch_ids.length === 0) return new Set()
  const rows = await db.selectFrom('faultboard_batches').select('batch_id').where('batch_id', 'in', batch_ids).execute()
  return new Set(rows.map(({ batch_id }) => batch_id))
}
