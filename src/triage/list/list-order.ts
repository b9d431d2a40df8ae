import { SEVERITIES } from '../../model/severity/severity.js'
import { STATUSES } from '../../model/workflow.js'
import type { Dialect } from '../../store/dialect.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { byteOrder, isCheapToSort, nullableByteOrder, withoutIndex } from '../../store/sql/sort-order.js'
import type { ErrorsFilter, SORT_FIELDS } from './errors-filter.js'

/** Sort order of the list. The id breaks ties, so that no row appears on two pages. */
export interface ListOrder {
  key: RawBuilder<string | number>
  direction: 'asc' | 'desc'
  /** True if an index has this order, so that the first rows need no sort. */
  isIndexed: boolean
}

/** `matches` is an upper bound for the number of matching errors. */
export function listOrder(
  { sort_by = 'occurred_at', sort_direction = 'desc' }: ErrorsFilter,
  dialect: Dialect,
  matches = Number.POSITIVE_INFINITY,
): ListOrder {
  return { key: sortKey(sort_by, dialect, matches), direction: sort_direction, isIndexed: sort_by === 'occurred_at' }
}

/** Condition for rows after `last` in this order. */
export function afterRow(
  { key, direction }: ListOrder,
  last: { sort_key: string | number; id: number },
): RawBuilder<boolean> {
  const operator = sql.raw(direction === 'asc' ? '>' : '<')
  // Written without a top-level `or`, so that databases can use the index.
  return sql<boolean>`(${key} ${operator}= ${last.sort_key}
    and (${key} ${operator} ${last.sort_key} or faultboard_errors.id ${operator} ${last.id}))`
}

function sortKey(field: (typeof SORT_FIELDS)[number], dialect: Dialect, matches: number): RawBuilder<string | number> {
  switch (field) {
    // Sorts by rank instead of alphabetically.
    case 'severity':
      return rankOrder('severity', [...SEVERITIES].reverse())
    case 'status':
      return rankOrder('status', STATUSES)
    case 'error_type':
    case 'platform':
      return byteOrder(dialect, `faultboard_errors.${field}`)
    case 'app_version':
      return nullableByteOrder(dialect, `faultboard_errors.${field}`)
    default: {
      const column = `faultboard_errors.${field}`
      return isCheapToSort(matches) ? withoutIndex(dialect, column) : sql<number>`${sql.ref(column)}`
    }
  }
}

const rankOrder = (column: string, values: readonly string[]) =>
  sql<number>`case ${sql.ref(`faultboard_errors.${column}`)} ${sql.join(
    values.map((value, i) => sql`when ${sql.lit(value)} then ${sql.lit(i)}`),
    sql` `,
  )} end`
