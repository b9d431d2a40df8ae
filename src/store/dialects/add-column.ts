import type { AnyDatabase, NewColumnType } from './capabilities.js'

/** Adds a column unless introspection lists it, for databases without `add column if not exists`. */
export async function addColumnUnlessListed(
  db: AnyDatabase,
  table: string,
  column: string,
  type: NewColumnType,
): Promise<void> {
  const tables = await db.introspection.getTables()
  if (tables.find(({ name }) => name === table)?.columns.some(({ name }) => name === column)) return
  await db.schema.alterTable(table).addColumn(column, type).execute()
}
