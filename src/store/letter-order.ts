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
