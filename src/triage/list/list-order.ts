import { SEVERITIES } from '../../model/severity.js'
import { STATUSES } from '../../model/workflow.js'
import type { Dialect } from '../../store/dialect.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { areFew, letterOrder, optionalLetterOrder, withoutIndex } from '../../store/sort-order.js'
import type { ErrorsFilter, SORT_FIELDS } from './errors-filter.js'

/** What the list is sorted by, as SQL; the id after it makes the order total, so that no row stands on two pages. */
export interface ListOrder {
  key: RawBuilder<string | number>
  direction: 'asc' | 'desc'
  /** Whether there is an index in this order, so that its first rows are had without sorting all. */
  is_indexed: boolean
}

/** `matches` is how many fit, as far as that is known. */
export function listOrder(
  { sort_by = 'occurred_at', sort_direction = 'desc' }: ErrorsFilter,
  dialect: Dialect,
  matches = Number.POSITIVE_INFINITY,
): ListOrder {
  return { key: keyOf(sort_by, dialect, matches), direction: sort_direction, is_indexed: sort_by === 'occurred_at' }
}

/** Those that come after a row in this order. */
export function after(
  { key, direction }: ListOrder,
  last: { sort_key: string | number; id: number },
): RawBuilder<boolean> {
  const beyond = sql.raw(direction === 'asc' ? '>' : '<')
  // Said so that an index can be entered at the row: of two ways by `or`, a database takes neither.
  return sql<boolean>`(${key} ${beyond}= ${last.sort_key}
    and (${key} ${beyond} ${last.sort_key} or faultboard_errors.id ${beyond} ${last.id}))`
}

function keyOf(field: (typeof SORT_FIELDS)[number], dialect: Dialect, matches: number): RawBuilder<string | number> {
  switch (field) {
    // Words that have an order of their own, which is not that of the alphabet.
    case 'severity':
      return rank('severity', [...SEVERITIES].reverse())
    case 'status':
      return rank('status', STATUSES)
    case 'error_type':
    case 'platform':
      return letterOrder(dialect, `faultboard_errors.${field}`)
    case 'app_version':
      return optionalLetterOrder(dialect, `faultboard_errors.${field}`)
    default: {
      const column = `faultboard_errors.${field}`
      return areFew(matches) ? withoutIndex(dialect, column) : sql<number>`${sql.ref(column)}`
    }
  }
}

const rank = (column: string, words: readonly string[]) =>
  sql<number>`case ${sql.ref(`faultboard_errors.${column}`)} ${sql.join(
    words.map((word, i) => sql`when ${sql.lit(word)} then ${sql.lit(i)}`),
    sql` `,
  )} end`
