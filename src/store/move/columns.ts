import { TrackerError } from '../../model/errors.js'
import type { Database } from '../database.js'
import type { BulkColumn } from '../dialect.js'
import type { Schema } from '../schema.js'
import { TABLE_NAMES } from './tables.js'

export type Columns = ReadonlyMap<keyof Schema, readonly BulkColumn[]>

/** The columns of every table, as the database itself names them. */
export async function columnsOf(database: Database): Promise<Columns> {
  const { read, dialect } = database
  const own = await dialect.currentSchema(read)
  const tables = await read.withoutPlugins().introspection.getTables()
  const found = new Map<keyof Schema, readonly BulkColumn[]>()
  for (const name of TABLE_NAMES) {
    const table = tables.find((one) => one.name === name && (own === undefined || one.schema === own))
    if (!table) {
      throw new TrackerError('schema_outdated', `${dialect.address} has no table ${name}: run  npx faultboard migrate`)
    }
    found.set(
      name,
      table.columns.map((column) => ({ name: column.name, type: typeOf(column.dataType) })),
    )
  }
  return found
}

function typeOf(data_type: string): BulkColumn['type'] {
  if (/int|serial/i.test(data_type)) return 'integer'
  return /double|float|real/i.test(data_type) ? 'fraction' : 'text'
}
