import type { BulkInsert, BulkUpdate } from './dialect.js'

/** The pieces of a bulk insert that the databases spell alike or nearly so. */
export interface Spelling {
  quote: '"' | '`'
  /** The column of the row that was to be inserted. */
  incoming(column: string): string
  greatest: string
  least: string
}

export function insertHead({ table, columns }: BulkInsert, { quote }: Spelling): string {
  return `insert into ${quote}${table}${quote} (${columns.map(({ name }) => `${quote}${name}${quote}`).join(', ')})`
}

/** The assignments of an upsert, without the keyword that introduces them. */
export function assignments({ table, on_conflict }: BulkInsert, spelling: Spelling): string {
  return (on_conflict?.update ?? []).map((update) => assignment(table, update, spelling)).join(', ')
}

/** `on conflict … do …` as PostgreSQL and SQLite know it. */
export function conflictClause(insert: BulkInsert, spelling: Spelling): string {
  if (!insert.on_conflict) return ''
  const key = insert.on_conflict.key.map((column) => `"${column}"`).join(', ')
  if (insert.on_conflict.update.length === 0) return ` on conflict (${key}) do nothing`
  return ` on conflict (${key}) do update set ${assignments(insert, spelling)}`
}

function assignment(table: string, { column, by }: BulkUpdate, { quote, incoming, greatest, least }: Spelling): string {
  const target = `${quote}${column}${quote}`
  const existing = `${quote}${table}${quote}.${target}`
  switch (by) {
    case 'add':
      return `${target} = ${existing} + ${incoming(column)}`
    case 'greatest':
      return `${target} = ${greatest}(${existing}, ${incoming(column)})`
    case 'least':
      return `${target} = ${least}(${existing}, ${incoming(column)})`
    case 'newest': {
      const later = `${incoming('occurred_at')} >= ${quote}${table}${quote}.${quote}occurred_at${quote}`
      return `${target} = case when ${later} then ${incoming(column)} else ${existing} end`
    }
  }
}
