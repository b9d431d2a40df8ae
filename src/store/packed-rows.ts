import type { Database } from './database.js'
import { type SelectQueryBuilder, sql } from './kysely.js'
import type { Schema } from './schema.js'

/**
 * The rows of a query that has many of them, with only integers and texts. An object is made of each row in the host's
 * thread, value by value, which takes longer than finding them; so they come as one text where the database can.
 */
export async function packedRows<Row extends object>(
  { dialect, read }: Database,
  // biome-ignore lint/suspicious/noExplicitAny: whatever it selects from.
  query: SelectQueryBuilder<Schema, any, Row>,
  columns: readonly (keyof Row & string)[],
): Promise<Row[]> {
  const { packRows } = dialect
  if (!packRows) return query.execute()
  const { rows } = await sql<{ packed: string | null }>`
    select ${packRows(sql.join(columns.map((column) => sql.ref(column))))} as packed from (${query}) as unpacked`.execute(
    read,
  )
  const lists = JSON.parse(rows[0]?.packed ?? '[]') as unknown[][]
  return lists.map((list) => {
    const row: Record<string, unknown> = {}
    for (const [i, column] of columns.entries()) row[column] = list[i]
    return row as Row
  })
}
