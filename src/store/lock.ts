import type { Dialect } from './dialect.js'
import { type Selectable, type SelectQueryBuilder, sql, type Transaction } from './kysely.js'
import type { ErrorsTable, Schema } from './schema.js'

export type ErrorRow = Selectable<ErrorsTable>

/**
 * Lets a query lock the rows that it finds until the transaction ends; those that another has locked are waited for, or
 * left out. SQLite has no row locks and needs none: its transactions write one after the other.
 */
export function locking<Table extends keyof Schema, Row>(
  query: SelectQueryBuilder<Schema, Table, Row>,
  dialect: Dialect,
  locked: 'wait' | 'skip' = 'wait',
): SelectQueryBuilder<Schema, Table, Row> {
  if (!dialect.hasRowLocks) return query
  return locked === 'skip' ? query.forUpdate().skipLocked() : query.forUpdate()
}

/** The rows of these errors, locked in the order in which every flush takes them. */
export async function lockErrors(
  trx: Transaction<Schema>,
  dialect: Dialect,
  ids: readonly number[],
): Promise<ErrorRow[]> {
  if (ids.length === 0) return []
  if (dialect.locksIndexEntries) return lockByKey(trx, ids)
  const query = trx
    .selectFrom('faultboard_errors')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('application_id')
    .orderBy('hash_signature')
  return locking(query, dialect).execute()
}

/**
 * MySQL locks the entry of the index by which a row is found, and then the row. A flush finds its groups by their
 * signatures; whoever locks the row alone, and then deletes it, wants the entry that a waiting flush holds already.
 */
async function lockByKey(trx: Transaction<Schema>, ids: readonly number[]): Promise<ErrorRow[]> {
  const keys = await trx
    .selectFrom('faultboard_errors')
    .select(['application_id', 'hash_signature'])
    .where('id', 'in', ids)
    .execute()
  const rows: ErrorRow[] = []
  for (const application_id of [...new Set(keys.map((key) => key.application_id))].sort((a, b) => a - b)) {
    const own = keys.filter((key) => key.application_id === application_id).map((key) => key.hash_signature)
    const locked = await sql<ErrorRow>`
      select * from faultboard_errors force index (faultboard_errors_signature)
      where application_id = ${application_id} and hash_signature in (${sql.join(own)}) and id in (${sql.join(ids)})
      order by hash_signature for update`.execute(trx)
    rows.push(...locked.rows)
  }
  return rows
}
