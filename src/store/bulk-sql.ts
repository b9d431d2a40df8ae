import { SEVERITIES } from '../model/severity.js'
import type { BulkTarget, BulkUpdate } from './dialect.js'

/** The pieces of a bulk insert that the databases spell alike or nearly so. */
export interface Spelling {
  quote: '"' | '`'
  /** The column of the row that was to be inserted. */
  incoming(column: string): string
  greatest: string
  least: string
}

export function insertHead({ table, columns }: BulkTarget, { quote }: Spelling): string {
  return `insert into ${quote}${table}${quote} (${columns.map(({ name }) => `${quote}${name}${quote}`).join(', ')})`
}

/** The assignments of an upsert, without the keyword that introduces them. */
export function assignments({ table, on_conflict }: BulkTarget, spelling: Spelling): string {
  return (on_conflict?.update ?? []).map((update) => assignment(table, update, spelling)).join(', ')
}

/** `on conflict … do …` as PostgreSQL and SQLite know it. */
export function conflictClause(target: BulkTarget, spelling: Spelling): string {
  if (!target.on_conflict) return ''
  const key = target.on_conflict.key.map((column) => `"${column}"`).join(', ')
  if (target.on_conflict.update.length === 0) return ` on conflict (${key}) do nothing`
  return ` on conflict (${key}) do update set ${assignments(target, spelling)}`
}

/** `returning …` as PostgreSQL and SQLite know it. */
export function returningClause({ returning }: BulkTarget): string {
  return returning ? ` returning ${returning.map((column) => `"${column}"`).join(', ')}` : ''
}

/** Makes the SQL of a target once. */
export function oncePerTarget(make: (target: BulkTarget) => string): (target: BulkTarget) => string {
  const made = new WeakMap<BulkTarget, string>()
  return (target) => {
    let text = made.get(target)
    if (text === undefined) {
      text = make(target)
      made.set(target, text)
    }
    return text
  }
}

function assignment(table: string, { column, by }: BulkUpdate, { quote, incoming, greatest, least }: Spelling): string {
  const target = `${quote}${column}${quote}`
  const existing = `${quote}${table}${quote}.${target}`
  switch (by) {
    case 'add':
      return `${target} = ${existing} + ${incoming(column)}`
    case 'replace':
      return `${target} = ${incoming(column)}`
    case 'greatest':
      return `${target} = ${chosen(greatest, existing, incoming(column))}`
    case 'least':
      return `${target} = ${chosen(least, existing, incoming(column))}`
    case 'newest': {
      const [shownAt, occurredAt] = ['shown_at', 'occurred_at'].map(
        (name) => `${quote}${table}${quote}.${quote}${name}${quote}`,
      )
      const isNewer = `${incoming('shown_at')} >= coalesce(${shownAt}, ${occurredAt})`
      return `${target} = case when ${isNewer} then ${incoming(column)} else ${existing} end`
    }
    case 'most_severe': {
      const reopenedAt = `${quote}${table}${quote}.${quote}reopened_at${quote}`
      const isSince = `(${reopenedAt} is null or ${incoming('first_seen_at')} > ${reopenedAt})`
      const isHigher = `${severityRank(incoming(column))} < ${severityRank(existing)}`
      return `${target} = case when ${isSince} and ${isHigher} then ${incoming(column)} else ${existing} end`
    }
    case 'oldest': {
      const earlier = `${incoming('first_seen_at')} < ${quote}${table}${quote}.${quote}first_seen_at${quote}`
      return `${target} = case when ${earlier} then ${incoming(column)} else ${existing} end`
    }
  }
}

/** The position in SEVERITIES, of which the first is the most severe. */
function severityRank(value: string): string {
  return `case ${value} ${SEVERITIES.map((severity, i) => `when '${severity}' then ${i}`).join(' ')} end`
}

/** Of an empty value and another, SQLite and MariaDB would choose the empty one. */
function chosen(by: string, existing: string, incoming: string): string {
  return `${by}(coalesce(${existing}, ${incoming}), coalesce(${incoming}, ${existing}))`
}
