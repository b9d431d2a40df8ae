import type { Context } from '../../context.js'
import type { ErrorsQuery, IndexUse } from './errors-filter.js'
import type { ListOrder } from './list-order.js'
import { type MatchingErrors, withSearchText } from './matching-errors.js'

interface OrderedId {
  id: number
  sort_key: string | number
}

/** Beyond this share of all errors, a server sorts the matching errors faster than it reads the index of the order. */
const MAX_SHARE_IN_ORDER = 1 / 6
/** Up to this share, looking up tags error by error is faster than collecting all ids. */
const MAX_SHARE_FOR_LOOKUPS = 1 / 40

/**
 * Returns ids of matching errors in list order. Rows are loaded later, because databases carry all selected columns
 * through a sort. For a common search text, sorts errors first and then tests texts until the page is full. `readShare` is
 * the share of all errors that are read in list order until the page is full, if known.
 */
export function orderedIds(
  { database }: Context,
  { query, commonText }: MatchingErrors,
  { key, direction, isIndexed }: ListOrder,
  readShare?: number,
): ErrorsQuery<OrderedId> {
  const sortsAll = !database.dialect.blocksHost && readShare !== undefined && readShare > MAX_SHARE_IN_ORDER
  const stopsEarly = readShare !== undefined && readShare <= MAX_SHARE_FOR_LOOKUPS
  const inOrder: IndexUse = stopsEarly ? { tagAccess: 'lookUp' } : {}
  // Without an index for the order, reading all rows is faster than looking up the rows of an application.
  const sorted = query(isIndexed ? inOrder : { useApplicationIndex: false, tagAccess: 'collect' })
    .select(['faultboard_errors.id', key.as('sort_key')])
    .orderBy(sortsAll ? database.dialect.withoutIndexOrder<number>(key) : key, direction)
    .orderBy('faultboard_errors.id', direction)
  if (commonText === null) return sorted
  const { sortFence } = database.dialect
  const withTextTest = (inner: ErrorsQuery<OrderedId>) =>
    withSearchText(
      database.read.selectFrom(inner.as('faultboard_errors')).selectAll() as unknown as ErrorsQuery<OrderedId>,
      commonText,
    )
  if (!sortFence || (isIndexed && !sortFence.isNeededForIndexes)) return withSearchText(sorted, commonText)
  const fenced = withTextTest(sortFence.apply(sorted))
  return sortFence.keepsOrder ? fenced : fenced.orderBy('sort_key', direction).orderBy('id', direction)
}
