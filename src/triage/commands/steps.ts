import type { Database } from '../../store/database.js'
import { type RawBuilder, sql } from '../../store/kysely.js'

export type SearchTable = 'faultboard_error_search' | 'faultboard_search_history'

/**
 * Cuts a table into spans of ids, as conditions for one statement each, so that the host goes on in between. A server
 * is asked for all at once.
 */
export async function* steps(
  { read, dialect }: Database,
  table: 'faultboard_errors' | SearchTable,
  column: 'id' | 'error_id',
): AsyncGenerator<RawBuilder<boolean>> {
  const id = sql.ref(`${table}.${column}`)
  if (dialect.rows_at_once === null) {
    yield sql<boolean>`${id} > 0`
    return
  }
  for (let after = 0; ; ) {
    const { rows } = await sql<{ id: number | null }>`
      select max(id) as id from (
        select ${id} as id from ${sql.table(table)} where ${id} > ${after}
        order by ${id} limit ${sql.lit(dialect.rows_at_once)}
      ) as step`.execute(read)
    const until = rows[0]?.id ?? null
    if (until === null) return
    yield sql<boolean>`${id} > ${after} and ${id} <= ${until}`
    after = until
  }
}
