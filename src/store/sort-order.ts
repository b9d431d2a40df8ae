import type { Dialect } from './dialect.js'
import { type RawBuilder, sql } from './kysely.js'

/**
 * A text column to sort by, letter by letter on every database: PostgreSQL alone would follow the language of the
 * database.
 */
export function letterOrder({ name }: Dialect, column: string): RawBuilder<string> {
  return inLetters(name, sql`${sql.ref(column)}`)
}

/** The same for a column that may be empty: those without a value stand where an empty text would. */
export function optionalLetterOrder({ name }: Dialect, column: string): RawBuilder<string> {
  return inLetters(name, sql`coalesce(${sql.ref(column)}, '')`)
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
export function withoutIndex<T = number>({ name }: Dialect, column: string): RawBuilder<T> {
  return name === 'sqlite' ? sql<T>`+${sql.ref(column)}` : sql<T>`${sql.ref(column)}`
}

function inLetters(name: Dialect['name'], text: RawBuilder<unknown>): RawBuilder<string> {
  return name === 'postgres' ? sql<string>`${text} collate "C"` : sql<string>`${text}`
}
