import { SEVERITIES } from '../../model/severity/severity.js'
import type { BulkTarget, BulkUpdate } from '../dialect.js'

/** Differences in the SQL syntax of bulk inserts. */
export interface SqlSyntax {
  quote: '"' | '`'
  /** Refers to a column of the row to insert. */
  incoming(column: string): string
  greatest: string
  least: string
}

export function insertClause({ table, columns }: BulkTarget, { quote }: SqlSyntax): string {
  return `insert into ${quote}${table}${quote} (${columns.map(({ name }) => `${quote}${name}${quote}`).join(', ')})`
}

/** Returns the assignments of an upsert, without the leading keyword. */
export function assignments({ table, onConflict }: BulkTarget, syntax: SqlSyntax): string {
  return (onConflict?.update ?? []).map((update) => assignment(table, update, syntax)).join(', ')
}

/** Returns `on conflict … do …` for PostgreSQL and SQLite. */
export function conflictClause(target: BulkTarget, syntax: SqlSyntax): string {
  if (!target.onConflict) return ''
  const key = target.onConflict.key.map((column) => `"${column}"`).join(', ')
  if (target.onConflict.update.length === 0) return ` on conflict (${key}) do nothing`
  return ` on conflict (${key}) do update set ${assignments(target, syntax)}`
}

/** Returns `returning …` for PostgreSQL and SQLite. */
export function returningClause({ returning }: BulkTarget): string {
  return returning ? ` returning ${returning.map((column) => `"${column}"`).join(', ')}` : ''
}

/** Caches the generated SQL of each target. */
export function cachePerTarget(build: (target: BulkTarget) => string): (target: BulkTarget) => string {
  const cache = new WeakMap<BulkTarget, string>()
  return (target) => {
    let text = cache.get(target)
    if (text === undefined) {
      text = build(target)
      cache.set(target, text)
    }
    return text
  }
}

function assignment(
  table: string,
  { column, by }: BulkUpdate,
  { quote, incoming, greatest, least }: SqlSyntax,
): string {
  const target = `${quote}${column}${quote}`
  const existing = `${quote}${table}${quote}.${target}`
  switch (by) {
    case 'add':
      return `${target} = ${existing} + ${incoming(column)}`
    case 'replace':
      return `${target} = ${incoming(column)}`
    case 'greatest':
      return `${target} = ${ignoringNull(greatest, existing, incoming(column))}`
    case 'least':
      return `${target} = ${ignoringNull(least, existing, incoming(column))}`
    case 'newest': {
      const [shownAt, occurredAt] = ['shown_at', 'occurred_at'].map(
        (name) => `${quote}${table}${quote}.${quote}${name}${quote}`,
      )
      const isNewer = `${incoming('shown_at')} >= coalesce(${shownAt}, ${occurredAt})`
      return `${target} = case when ${isNewer} then ${incoming(column)} else ${existing} end`
    }
    case 'most_severe': {
      const reopenedAt = `${quote}${table}${quote}.${quote}reopened_at${quote}`
      const isAfterReopening = `(${reopenedAt} is null or ${incoming('first_seen_at')} > ${reopenedAt})`
      const isHigher = `${severityRank(incoming(column))} < ${severityRank(existing)}`
      return `${target} = case when ${isAfterReopening} and ${isHigher} then ${incoming(column)} else ${existing} end`
    }
    case 'oldest': {
      const isOlder = `${incoming('first_seen_at')} < ${quote}${table}${quote}.${quote}first_seen_at${quote}`
      return `${target} = case when ${isOlder} then ${incoming(column)} else ${existing} end`
    }
  }
}

/** Returns SQL for the position in SEVERITIES, which starts with the most severe. */
function severityRank(value: string): string {
  return `case ${value} ${SEVERITIES.map((severity, i) => `when '${severity}' then ${i}`).join(' ')} end`
}

/** Needed because `greatest` and `least` of SQLite and MariaDB return null if one value is null. */
function ignoringNull(aggregate: string, existing: string, incoming: string): string {
  return `${aggregate}(coalesce(${existing}, ${incoming}), coalesce(${incoming}, ${existing}))`
}
