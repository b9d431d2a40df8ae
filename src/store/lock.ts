import type { Dialect } from './dialect.js'
import type { Selectable, Transaction } from './kysely.js'
import type { ErrorsTable, Schema } from './schema.js'

export type ErrorRow = Selectable<ErrorsTable>

/**
 * The rows of these errors, locked until the transaction ends, in the order in which every flush takes them. SQLite
 * has no row locks and needs none: its transactions write one after the other.
 */
export async function lockErrors(
  trx: Transaction<Schema>,
  dialect: Dialect,
  ids: readonly number[],
): Promise<ErrorRow[]> {
  if (ids.length === 0) return []
  const query = trx
    .selectFrom('faultboard_errors')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('application_id')
    .orderBy('hash_signature')
  return (dialect.name === 'sqlite' ? query : query.forUpdate()).execute()
}
