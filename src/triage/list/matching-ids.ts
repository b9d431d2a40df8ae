import type { Context } from '../../context.js'
import { MAX_BATCH_SIZE } from '../../model/workflow.js'
import type { ErrorsFilter } from './errors-filter.js'
import { matchingErrors, withSearchText } from './matching-errors.js'

/** Limits how long one batch blocks the host's event loop on SQLite. */
const SQLITE_BATCH_SIZE = 50

/**
 * Yields the ids of all matching errors in batches. Omits errors first seen after `listedAt`, because the user has not
 * seen them. Callers may change or delete a batch before reading the next batch.
 */
export async function* matchingIdBatches(
  context: Context,
  filter: ErrorsFilter,
  listedAt = context.now(),
): AsyncGenerator<number[]> {
  const { query, commonText } = await matchingErrors(context, filter)
  const listed = query().where('faultboard_errors.first_seen_at', '<=', listedAt)
  const errors = commonText === null ? listed : withSearchText(listed, commonText)
  const size = context.database.dialect.blocksHost ? SQLITE_BATCH_SIZE : MAX_BATCH_SIZE
  let lastId = 0
  while (true) {
    const rows = await errors
      .select('faultboard_errors.id')
      .where('faultboard_errors.id', '>', lastId)
      .orderBy('faultboard_errors.id')
      .limit(size)
      .execute()
    if (rows.length > 0) yield rows.map(({ id }) => id)
    if (rows.length < size) return
    lastId = rows.at(-1)?.id ?? lastId
  }
}
