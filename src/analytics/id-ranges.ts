import type { Context } from '../context.js'
import type { Database } from '../store/database.js'

const FEWEST = 50
const WANTED_MS = 8
const MOST_GROWTH = 3

export interface IdRange {
  first: number
  /** Not included. */
  end: number
}

/**
 * The ids of all errors in ranges, each as large as can be asked about in a few milliseconds: an embedded database
 * blocks the host's thread, and between two ranges the host has its turn. No error is in two of them, so that sums of
 * errors, and the first few of each range, add up to those of all. A server is asked for all at once.
 */
export async function* idRanges({ database }: Context): AsyncGenerator<IdRange> {
  let size = database.dialect.rows_at_once === null ? null : FEWEST
  for (let first = 0; ; ) {
    // A statement by itself: what the host does in its turn, which comes before it, is not taken for the range's work.
    const last = await lastOf(database, first, size)
    if (last === null) return
    const started = performance.now()
    yield { first, end: last + 1 }
    if (size === null) return
    const took = Math.max(0.1, performance.now() - started)
    first = last + 1
    size = Math.max(FEWEST, Math.round(size * Math.min(MOST_GROWTH, WANTED_MS / took)))
  }
}

/** The last of so many errors from one on, or of all. */
async function lastOf({ read }: Database, first: number, size: number | null): Promise<number | null> {
  const errors = read.selectFrom('faultboard_errors').select('id').where('id', '>=', first)
  const { last_id } = await read
    .selectFrom((size === null ? errors : errors.orderBy('id').limit(size)).as('errors'))
    .select(({ fn }) => fn.max<number | null>('id').as('last_id'))
    .executeTakeFirstOrThrow()
  return last_id
}
