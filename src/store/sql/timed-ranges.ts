import { nextTurn } from '../../model/event-loop-turns.js'
import type { Database } from '../database.js'

/** Half-open range of whole numbers. */
export interface Range {
  from: number
  to: number
}

interface RangeLimits {
  /** Size of the first range and minimum size of later ranges. */
  minSize?: number
  /** Maximum size, which also applies to database servers. Limits the parameters of a statement with a list of ids. */
  maxSize?: number
}

/** Limits for statements with a list of ids. */
export const ID_LIST_LIMITS: RangeLimits = { minSize: 50, maxSize: 10_000 }

/** Long enough to be efficient, short enough not to delay requests of the host noticeably. */
const TARGET_MS = 4
const MAX_GROWTH = 3

/**
 * Splits the numbers below `length` into consecutive ranges. SQLite runs on the host's thread, so each range takes a few
 * milliseconds and the host runs in between. A server gets one range, up to `maxSize`.
 *
 * @example
 * for await (const { from, to } of timedRanges(database, ids.length)) await read(ids.slice(from, to))
 */
export async function* timedRanges(
  { dialect }: Pick<Database, 'dialect'>,
  length: number,
  { minSize = 1, maxSize = Number.POSITIVE_INFINITY }: RangeLimits = {},
): AsyncGenerator<Range> {
  let size = dialect.blocksHost ? minSize : maxSize
  for (let from = 0; from < length; ) {
    const to = Math.min(length, from + size)
    const startedAt = performance.now()
    yield { from, to }
    from = to
    if (!dialect.blocksHost) continue
    const growth = Math.min(MAX_GROWTH, TARGET_MS / Math.max(0.1, performance.now() - startedAt))
    size = Math.min(maxSize, Math.max(minSize, Math.floor(size * growth)))
    await nextTurn()
  }
}

/** Splits the ids of all errors into ranges. */
export async function* errorIdRanges(database: Database): AsyncGenerator<Range> {
  const { last_id } = await database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => fn.max<number | null>('id').as('last_id'))
    .executeTakeFirstOrThrow()
  yield* timedRanges(database, (last_id ?? 0) + 1, { minSize: 500 })
}
