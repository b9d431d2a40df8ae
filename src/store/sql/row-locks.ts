import type { Dialect } from '../dialect.js'
import { type Selectable, type SelectQueryBuilder, sql, type Transaction } from '../kysely.js'
import type { ErrorsTable, Schema } from '../schema.js'

export type ErrorRow = Selectable<ErrorsTable>

/**
 * Locks the rows of a query until the transaction ends. Waits for rows that another transaction has locked, or skips
 * them. SQLite needs no row locks, because its write transactions are serialized.
 */
export function withRowLocks<Table extends keyof Schema, Row>(
  query: SelectQueryBuilder<Schema, Table, Row>,
  dialect: Dialect,
  onLocked: 'wait' | 'skip' = 'wait',
): SelectQueryBuilder<Schema, Table, Row> {
  if (!dialect.hasRowLocks) return query
  return onLocked === 'skip' ? query.forUpdate().skipLocked() : query.forUpdate()
}

/** Locks and returns the rows of these errors, in the lock order of a flush. */
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
    .orderBy('environment')
  return withRowLocks(query, dialect).execute()
}

/**
 * Locks rows through the signature index. MySQL locks the index entry first and then the row, and a flush uses the
 * signature index. Locking a row by id and then deleting it would deadlock with a waiting flush.
 */
async function lockByKey(trx: Transaction<Schema>, ids: readonly number[]): Promise<ErrorRow[]> {
  const keys = await trx
    .selectFrom('faultboard_errors')
    .select(['application_id', 'environment', 'hash_signature'])
    .where('id', 'in', ids)
    .execute()
  const rows: ErrorRow[] = []
  for (const application_id of [...new Set(keys.map((key) => key.application_id))].sort((a, b) => a - b)) {
    const own = keys.filter((key) => key.application_id === application_id)
    const signatures = [...new Set(own.map((key) => key.hash_signature))]
    const environments = [...new Set(own.map((key) => key.environment))]
    const locked = await sql<ErrorRow>`
      select * from faultboard_errors force index (faultboard_errors_signature)
      where application_id = ${application_id} and environment in (${sql.join(environments)})
        and hash_signature in (${sql.join(signatures)}) and id in (${sql.join(ids)})
      order by hash_signature, environment for update`.execute(trx)
    rows.push(...locked.rows)
  }
  return rows
}
