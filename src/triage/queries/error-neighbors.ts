import type { Context } from '../../context.js'
import type { ErrorsFilter } from '../list/errors-filter.js'
import { afterRow, type ListOrder, listOrder } from '../list/list-order.js'
import { matchingErrors } from '../list/matching-errors.js'
import { orderedIds } from '../list/ordered-ids.js'

/** Neighbors of an error in a list. */
export interface ErrorNeighbors {
  previous_id: number | null
  next_id: number | null
}

/** Searches from the sort position of the error, because a recently resolved error may no longer match the filter. */
export async function findNeighbors(context: Context, error_id: number, filter: ErrorsFilter): Promise<ErrorNeighbors> {
  const { database } = context
  const matching = await matchingErrors(context, filter)
  // Uses the order for few matches. The next match can be far away, so reading all matches is faster than probing.
  const order = listOrder(filter, database.dialect, 0)
  const self = await database.read
    .selectFrom('faultboard_errors')
    .select(['faultboard_errors.id', order.key.as('sort_key')])
    .where('faultboard_errors.id', '=', error_id)
    .executeTakeFirst()
  if (!self) return { previous_id: null, next_id: null }
  const findFirst = async (direction: ListOrder) => {
    const query = () => matching.query().where(afterRow(direction, self))
    const row = await orderedIds(context, { ...matching, query }, direction)
      .limit(1)
      .executeTakeFirst()
    return row?.id ?? null
  }
  return {
    previous_id: await findFirst({ ...order, direction: order.direction === 'asc' ? 'desc' : 'asc' }),
    next_id: await findFirst(order),
  }
}
