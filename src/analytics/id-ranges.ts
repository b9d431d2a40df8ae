import type { Context } from '../context.js'

const FIRST_SIZE = 10
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
 * errors, and the first few of each range, add up to those of all.
 */
export async function* idRanges({ database }: Context): AsyncGenerator<IdRange> {
  const { first_id, last_id } = await database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => [fn.min<number | null>('id').as('first_id'), fn.max<number | null>('id').as('last_id')])
    .executeTakeFirstOrThrow()
  if (first_id === null || last_id === null) return
  let size = FIRST_SIZE
  for (let first = first_id; first <= last_id; ) {
    const end = Math.min(first + size, last_id + 1)
    const started = performance.now()
    yield { first, end }
    const took = Math.max(0.1, performance.now() - started)
    first = end
    size = Math.max(1, Math.round(size * Math.min(MOST_GROWTH, WANTED_MS / took)))
  }
}
