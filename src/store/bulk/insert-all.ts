import type { BulkInsert, Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'

/** Inserts into different tables in the given order, if possible in one round trip, so that locks are held briefly. */
export async function insertAll(
  trx: Transaction<Schema>,
  dialect: Dialect,
  inserts: readonly BulkInsert[],
): Promise<void> {
  const needed = inserts.filter(([, rows]) => rows.length > 0)
  if (dialect.insertTogether && needed.length > 0) return dialect.insertTogether(trx, needed)
  for (const [target, rows] of needed) await dialect.insertMany(trx, target, rows)
}
