import type { Dialect } from './dialect.js'
import { type RawBuilder, sql } from './kysely.js'

/**
 * A text column to sort by, letter by letter on every database: PostgreSQL alone would follow the language of the
 * database, and put those without a value at the other end.
 */
export function letterOrder({ name }: Dialect, column: string): RawBuilder<string> {
  const text = sql<string>`coalesce(${sql.ref(column)}, '')`
  return name === 'postgres' ? sql<string>`${text} collate "C"` : text
}

/** Beyond so many matches, walking the index in order finds a page sooner than sorting all of them. */
const FEW = 2000

/**
 * A column to sort by when it is known how many rows fit. SQLite would walk the column's index and look at every row of
 * the table for the few that fit; a plus sign keeps it from that.
 */
export function orderOfMatches({ name }: Dialect, column: string, matches: number): RawBuilder<unknown> {
  return name === 'sqlite' && matches <= FEW ? sql`+${sql.ref(column)}` : sql.ref(column)
}
