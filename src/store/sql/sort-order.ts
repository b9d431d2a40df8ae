import type { Dialect } from '../dialect.js'
import { type RawBuilder, sql } from '../kysely.js'

/** Sorts a text column by bytes. PostgreSQL would use the collation of the database. */
export function byteOrder(dialect: Dialect, column: string): RawBuilder<string> {
  return dialect.byteOrder(sql.ref(column))
}

/** Sorts a nullable text column by bytes, with null as an empty text. */
export function nullableByteOrder(dialect: Dialect, column: string): RawBuilder<string> {
  return dialect.byteOrder(sql`coalesce(${sql.ref(column)}, '')`)
}

/** Beyond this number of matches, scanning the index in order finds a page faster than sorting all matches. */
const MAX_SORTED_MATCHES = 2000

export function isCheapToSort(matches: number): boolean {
  return matches <= MAX_SORTED_MATCHES
}

/**
 * Prevents SQLite from using an index for a column. SQLite does not estimate how many rows match. It may read all rows of an
 * application in random order, or scan all rows in index order for a few matches.
 */
export function withoutIndex<T = number>(dialect: Dialect, column: string): RawBuilder<T> {
  return dialect.withoutIndex<T>(sql.ref(column))
}
