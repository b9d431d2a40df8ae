import { BATCHES } from './bulk-targets.js'
import type { Dialect } from './dialect.js'
import type { Kysely, Transaction } from './kysely.js'
import type { Schema } from './schema.js'

/** Written in the transaction of the batch: what is tried again after an unclear end finds it, and is not counted twice. */
export async function mark(trx: Transaction<Schema>, dialect: Dialect, batch_id: string, now: number): Promise<void> {
  await dialect.insertMany(trx, BATCHES, [[batch_id, now]])
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
