import { initial } from './0001-initial.js'
import type { Migration } from './table.js'

/** All migrations in order. A released migration never changes; a new migration follows it. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
}
