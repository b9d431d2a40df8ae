import type { Context } from '../../context.js'
import type { Database } from '../../store/database.js'

const FEWEST = 50
const WANTED_MS = 8
const MOST_GROWTH = 3
const LEAST_DENSITY = 0.9

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
  const ids = size === null ? null : await idsOf(database)
  for (let first = ids?.first ?? 0; ; ) {
    // A statement by itself: what the host does in its turn, which comes before it, is not taken for the range's work.
    const last = ids && size !== null ? lastByNumber(ids, first, size) : await lastOf(database, first, size)
    if (last === null) return
    const started = performance.now()
    yield { first, end: last + 1 }
    if (size === null) return
    const took = Math.max(0.1, performance.now() - started)
    first = last + 1
    size = Math.max(FEWEST, Math.round(size * Math.min(MOST_GROWTH, WANTED_MS / took)))
  }
}

interface Ids {
  first: number
  last: number
}

/** The first and the last id, where hardly any is missing between them: then ranges are found without asking. */
async function idsOf({ read }: Database): Promise<Ids | null> {
  const { first_id, last_id, count } = await read
    .selectFrom('faultboard_errors')
    .select(({ fn, selectFrom }) => [
      // Each by itself is looked up in the index; both at once would be looked for in every row.
      selectFrom('faultboard_errors as first')
        .select(({ fn }) => fn.min('first.id').as('id'))
        .as('first_id'),
      selectFrom('faultboard_errors as last')
        .select(({ fn }) => fn.max('last.id').as('id'))
        .as('last_id'),
      fn.countAll<number>().as('count'),
    ])
    .executeTakeFirstOrThrow()
  if (first_id === null || last_id === null) return null
  return count >= LEAST_DENSITY * (last_id - first_id + 1) ? { first: first_id, last: last_id } : null
}

function lastByNumber({ last }: Ids, first: number, size: number): number | null {
  return first > last ? null : Math.min(first + size - 1, last)
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
