import type { Context } from '../context.js'
import { sql } from '../store/kysely.js'
import { withoutIndex } from '../store/sort-order.js'
import { cascadesSince } from './cascade-detector.js'
import type { Scope } from './hour-sums.js'
import { type RankedError, rankedErrors } from './ranked-errors.js'

/** Two errors of which one tends to follow the other. */
export interface StrongCascade {
  parent: RankedError
  child: RankedError
  followed_count: number
  parent_count: number
  probability: number
  average_delay_ms: number
  /** Since when both were counted. */
  counted_since: string | null
  last_detected_at: string
}

const LEAST_PROBABILITY = 0.5

/** The cascades that were found since then, those that happened most often first. */
export async function strongestCascades(
  context: Context,
  { application_id }: Scope,
  since: number,
  limit: number,
): Promise<StrongCascade[]> {
  const { dialect } = context.database
  // By its index SQLite would look at every two errors of the application.
  const [ofParent, ofChild] = [withoutIndex(dialect, 'p.application_id'), withoutIndex(dialect, 'f.application_id')]
  const rows = await context.database.read
    .selectFrom('faultboard_cascades as c')
    .innerJoin('faultboard_errors as p', 'p.id', 'c.parent_error_id')
    .innerJoin('faultboard_errors as f', 'f.id', 'c.child_error_id')
    .select(['c.parent_error_id', 'c.child_error_id', 'c.followed_count', 'c.parent_count', 'c.probability'])
    .select(['c.average_delay_ms', 'c.last_detected_at'])
    .where('c.probability', '>=', LEAST_PROBABILITY)
    .where('c.last_detected_at', '>=', since)
    .where(sql<boolean>`${ofParent} = ${ofChild}`)
    .$if(application_id !== undefined, (query) => query.where(ofParent, '=', application_id ?? 0))
    .orderBy('c.followed_count', 'desc')
    .orderBy('c.probability', 'desc')
    .orderBy('c.id')
    .limit(limit)
    .execute()
  if (rows.length === 0) return []
  const counted_since = await cascadesSince(context)
  const errors = await rankedErrors(
    context,
    rows.flatMap(({ parent_error_id, child_error_id }) => [parent_error_id, child_error_id]),
  )
  return rows.flatMap(({ parent_error_id, child_error_id, probability, last_detected_at, ...counts }) => {
    const [parent, child] = [errors.get(parent_error_id), errors.get(child_error_id)]
    if (!parent || !child) return []
    const detected_at = new Date(last_detected_at).toISOString()
    return [
      { parent, child, ...counts, probability: Number(probability), counted_since, last_detected_at: detected_at },
    ]
  })
}
