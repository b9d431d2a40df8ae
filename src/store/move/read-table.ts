import { createHash } from 'node:crypto'
import { TrackerError } from '../../model/errors.js'
import type { Database } from '../database.js'
import type { BulkColumn, BulkRow, Dialect } from '../dialect.js'
import { type Kysely, type RawBuilder, sql } from '../kysely.js'
import { type Schema, TABLE_NAMES, tableDefinition } from '../schema.js'

export type Columns = ReadonlyMap<keyof Schema, readonly BulkColumn[]>

/** Returns the columns of every table, from the catalog of the database. */
export async function readColumns({ read, dialect }: Database): Promise<Columns> {
  const schema = await dialect.currentSchema(read)
  const tables = await read.withoutPlugins().introspection.getTables()
  const columns = new Map<keyof Schema, readonly BulkColumn[]>()
  for (const name of TABLE_NAMES) {
    const table = tables.find((found) => found.name === name && (schema === undefined || found.schema === schema))
    if (!table) {
      throw new TrackerError('schema_outdated', `${dialect.address} has no table ${name}. Run  npx faultboard migrate`)
    }
    columns.set(
      name,
      table.columns.map((column) => ({ name: column.name, type: bulkType(column.dataType) })),
    )
  }
  return columns
}

function bulkType(dataType: string): BulkColumn['type'] {
  if (/int|serial/i.test(dataType)) return 'integer'
  return /double|float|real/i.test(dataType) ? 'fraction' : 'text'
}

const DEFAULT_BATCH_SIZE = 1000

/** Reads all rows of a table in key order, in batches, with values that every database accepts. */
export async function* readRows(
  db: Kysely<Schema>,
  dialect: Dialect,
  table: keyof Schema,
  columns: readonly BulkColumn[],
): AsyncGenerator<BulkRow[]> {
  const { key, batchSize = DEFAULT_BATCH_SIZE } = tableDefinition(table)
  const selected = sql.join(columns.map(({ name }) => sql.ref(name)))
  const order = sql.join(key.map((column) => sql.ref(column)))
  const keyIndexes = key.map((column) => columns.findIndex(({ name }) => name === column))
  for (let last: BulkRow | undefined; ; ) {
    const condition = last === undefined ? sql`` : sql`where ${isAfterKey(dialect, key, pickValues(last, keyIndexes))}`
    const { rows } = await sql<Record<string, unknown>>`
      select ${selected} from ${sql.table(table)} ${condition} order by ${order} limit ${sql.lit(batchSize)}`.execute(
      db,
    )
    if (rows.length === 0) return
    const batch = rows.map((row) => columns.map(({ name, type }) => toPlainValue(row[name], type)))
    yield batch
    if (batch.length < batchSize) return
    last = batch.at(-1)
  }
}

/** Checksum of the rows of a table, independent of their order. */
export class TableChecksum {
  rows = 0
  sum = 0
  #digest = 0n
  readonly #sumIndex: number

  constructor(table: keyof Schema, columns: readonly BulkColumn[]) {
    const { sum } = tableDefinition(table)
    this.#sumIndex = columns.findIndex(({ name }) => name === sum)
  }

  add(batch: readonly BulkRow[]): void {
    for (const row of batch) {
      this.rows++
      this.sum += Number(row[this.#sumIndex] ?? 0)
      const digest = createHash('sha256').update(JSON.stringify(row, roundFraction)).digest()
      this.#digest = BigInt.asUintN(64, this.#digest + digest.readBigUInt64BE())
    }
  }

  equals(other: TableChecksum): boolean {
    return this.rows === other.rows && this.sum === other.sum && this.#digest === other.#digest
  }
}

/** Ignores the last digits, because MariaDB returns some fractions with a different last digit than it stored. */
function roundFraction(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(12)) : value
}

function toPlainValue(value: unknown, type: BulkColumn['type']): string | number | null {
  if (value === null || value === undefined) return null
  return type === 'text' ? String(value) : Number(value)
}

function pickValues(row: BulkRow, indexes: readonly number[]): (string | number)[] {
  return indexes.map((index) => row[index] ?? '')
}

/** Returns a condition for rows after the given key. */
function isAfterKey(
  dialect: Dialect,
  key: readonly string[],
  values: readonly (string | number)[],
): RawBuilder<boolean> {
  if (dialect.usesIndexForRowComparison) {
    return sql<boolean>`(${sql.join(key.map((column) => sql.ref(column)))}) > (${sql.join(values)})`
  }
  const alternatives = key.map((column, i) => {
    const equalColumns = key.slice(0, i).map((earlier, j) => sql`${sql.ref(earlier)} = ${values[j]}`)
    return sql`(${sql.join([...equalColumns, sql`${sql.ref(column)} > ${values[i]}`], sql` and `)})`
  })
  return sql<boolean>`(${sql.join(alternatives, sql` or `)})`
}
