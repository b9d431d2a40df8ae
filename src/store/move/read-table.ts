import { createHash } from 'node:crypto'
import type { BulkColumn, BulkRow, Dialect } from '../dialect.js'
import { type Kysely, type RawBuilder, sql } from '../kysely.js'
import type { Schema } from '../schema.js'
import { movedTable } from './tables.js'

const AT_ONCE = 1000

/** All rows of a table in the order of its key, a part at a time, with their values as every database takes them. */
export async function* rowsOf(
  db: Kysely<Schema>,
  dialect: Dialect,
  table: keyof Schema,
  columns: readonly BulkColumn[],
): AsyncGenerator<BulkRow[]> {
  const { key, at_once = AT_ONCE } = movedTable(table)
  const named = sql.join(columns.map(({ name }) => sql.ref(name)))
  const order = sql.join(key.map((column) => sql.ref(column)))
  const places = key.map((column) => columns.findIndex(({ name }) => name === column))
  for (let last: BulkRow | undefined; ; ) {
    const rest = last === undefined ? sql`` : sql`where ${beyond(dialect, key, valuesAt(last, places))}`
    const { rows } = await sql<Record<string, unknown>>`
      select ${named} from ${sql.table(table)} ${rest} order by ${order} limit ${sql.lit(at_once)}`.execute(db)
    if (rows.length === 0) return
    const part = rows.map((row) => columns.map(({ name, type }) => plain(row[name], type)))
    yield part
    if (part.length < at_once) return
    last = part.at(-1)
  }
}

/** What a table holds, whatever the order of its rows. */
export class Tally {
  rows = 0
  sum = 0
  #digest = 0n
  readonly #summed: number

  constructor(table: keyof Schema, columns: readonly BulkColumn[]) {
    const { sum } = movedTable(table)
    this.#summed = columns.findIndex(({ name }) => name === sum)
  }

  add(part: readonly BulkRow[]): void {
    for (const row of part) {
      this.rows++
      this.sum += Number(row[this.#summed] ?? 0)
      const digest = createHash('sha256').update(JSON.stringify(row)).digest()
      this.#digest = BigInt.asUintN(64, this.#digest + digest.readBigUInt64BE())
    }
  }

  equals(other: Tally): boolean {
    return this.rows === other.rows && this.sum === other.sum && this.#digest === other.#digest
  }
}

function plain(value: unknown, type: BulkColumn['type']): string | number | null {
  if (value === null || value === undefined) return null
  return type === 'text' ? String(value) : Number(value)
}

function valuesAt(row: BulkRow, places: readonly number[]): (string | number)[] {
  return places.map((place) => row[place] ?? '')
}

/** Rows after the given key. */
function beyond(dialect: Dialect, key: readonly string[], values: readonly (string | number)[]): RawBuilder<boolean> {
  if (dialect.usesIndexForRowComparison) {
    return sql<boolean>`(${sql.join(key.map((column) => sql.ref(column)))}) > (${sql.join(values)})`
  }
  const ways = key.map((column, i) => {
    const same = key.slice(0, i).map((before, j) => sql`${sql.ref(before)} = ${values[j]}`)
    return sql`(${sql.join([...same, sql`${sql.ref(column)} > ${values[i]}`], sql` and `)})`
  })
  return sql<boolean>`(${sql.join(ways, sql` or `)})`
}
