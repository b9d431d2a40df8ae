import type { Context } from '../../context.js'
import type { ErrorsFilter } from '../list/errors-filter.js'
import { after, type ListOrder, listOrder } from '../list/list-order.js'
import { matchingErrors } from '../list/matching-errors.js'
import { inOrder } from '../list/ordered-ids.js'

/** The errors beside one in a list. */
export interface Neighbours {
  previous_id: number | null
  next_id: number | null
}

/** Found by where the error would stand: what was resolved a moment ago may fit the list no more. */
export async function neighbours(context: Context, error_id: number, filter: ErrorsFilter): Promise<Neighbours> {
  const { database } = context
  const matching = await matchingErrors(context, filter)
  // As for few matches: nobody knows how far away the next is, and all are read at once sooner than one by one.
  const order = listOrder(filter, database.dialect, 0)
  const self = await database.read
    .selectFrom('faultboard_errors')
    .select(['faultboard_errors.id', order.key.as('sort_key')])
    .where('faultboard_errors.id', '=', error_id)
    .executeTakeFirst()
  if (!self) return { previous_id: null, next_id: null }
  const first = async (towards: ListOrder) => {
    const query = () => matching.query().where(after(towards, self))
    const row = await inOrder(context, { ...matching, query }, towards)
      .limit(1)
      .executeTakeFirst()
    return row?.id ?? null
  }
  return {
    previous_id: await first({ ...order, direction: order.direction === 'asc' ? 'desc' : 'asc' }),
    next_id: await first(order),
  }
}
