import type { Dialect } from './dialect.js'
import { type RawBuilder, sql } from './kysely.js'

/**
 * A text column to sort by, letter by letter on every database: PostgreSQL alone would follow the language of the
 * database.
 */
export function letterOrder(dialect: Dialect, column: string): RawBuilder<string> {
  return dialect.byteOrder(sql.ref(column))
}

/** The same for a column that may be empty: those without a value stand where an empty text would. */
export function optionalLetterOrder(dialect: Dialect, column: string): RawBuilder<string> {
  return dialect.byteOrder(sql`coalesce(${sql.ref(column)}, '')`)
}

/** Beyond so many matches, walking the index in order finds a page sooner than sorting all of them. */
const FEW = 2000

export function areFew(matches: number): boolean {
  return matches <= FEW
}

/**
 * A column that SQLite is not to look up in an index. It knows nothing of how many rows fit: it would read the rows of
 * a whole application one by one from all over the table, or walk all of them in their order for the few that fit.
 */
export function withoutIndex<T = number>(dialect: Dialect, column: string): RawBuilder<T> {
  return dialect.withoutIndex<T>(sql.ref(column))
}
