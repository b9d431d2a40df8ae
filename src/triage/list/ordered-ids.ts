import type { Context } from '../../context.js'
import { sql } from '../../store/kysely.js'
import type { ErrorsQuery } from './errors-filter.js'
import type { ListOrder } from './list-order.js'
import { type MatchingErrors, withText } from './matching-errors.js'

interface OrderedId {
  id: number
  sort_key: string | number
}

/**
 * The ids of those that fit, in order; the rows are read afterwards, because a database that sorts carries along all it
 * selects. Those of a common text are put in order first and tested then, until there are enough.
 */
export function inOrder(
  { database }: Context,
  { query, common_text }: MatchingErrors,
  { key, direction, is_indexed }: ListOrder,
): ErrorsQuery<OrderedId> {
  const sorted = query()
    .select(['faultboard_errors.id', key.as('sort_key')])
    .orderBy(key, direction)
    .orderBy('faultboard_errors.id', direction)
  if (common_text === null) return sorted
  const { name } = database.dialect
  const tested = (inner: ErrorsQuery<OrderedId>) =>
    withText(
      database.read.selectFrom(inner.as('faultboard_errors')).selectAll() as unknown as ErrorsQuery<OrderedId>,
      common_text,
    )
  // Without limit or offset the test would move into the inner query, and all would be tested before they are sorted.
  if (name === 'sqlite') return tested(sorted.limit(sql.lit(-1)))
  if (name === 'postgres' && !is_indexed) {
    const inner = tested(sorted.offset(sql.lit(0)))
    return inner.orderBy('sort_key', direction).orderBy('id', direction)
  }
  return withText(sorted, common_text)
}
