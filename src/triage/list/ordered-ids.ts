import type { Context } from '../../context.js'
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
  const { sortFence } = database.dialect
  const tested = (inner: ErrorsQuery<OrderedId>) =>
    withText(
      database.read.selectFrom(inner.as('faultboard_errors')).selectAll() as unknown as ErrorsQuery<OrderedId>,
      common_text,
    )
  if (!sortFence || (is_indexed && !sortFence.isNeededForIndexes)) return withText(sorted, common_text)
  const fenced = tested(sortFence.apply(sorted))
  return sortFence.keepsOrder ? fenced : fenced.orderBy('sort_key', direction).orderBy('id', direction)
}
