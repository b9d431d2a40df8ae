import type { Database } from '../database.js'
import { type SelectQueryBuilder, sql } from '../kysely.js'
import type { Schema } from '../schema.js'

/**
 * Runs a query with many rows of integers and texts. Building an object per row in the driver takes longer than the
 * query itself. If possible, the database returns all rows as one JSON text.
 */
export async function packedRows<Row extends object>(
  { dialect, read }: Database,
  // biome-ignore lint/suspicious/noExplicitAny: the query may select from any tables.
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
    // An iterator over the columns would take longer than parsing the text.
    for (let i = 0; i < columns.length; i++) row[columns[i] as string] = list[i]
    return row as Row
  })
}
