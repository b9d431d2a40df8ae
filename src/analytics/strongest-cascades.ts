import type { Context } from '../context.js'
import type { Scope } from './hour-sums.js'
import { type RelatedError, relatedErrors } from './related-errors.js'

/** Two errors of which one tends to follow the other. */
export interface StrongCascade {
  parent: RelatedError
  child: RelatedError
  followed_count: number
  parent_count: number
  probability: number
  average_delay_ms: number
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
  const rows = await context.database.read
    .selectFrom('faultboard_cascades as c')
    .innerJoin('faultboard_errors as p', 'p.id', 'c.parent_error_id')
    .innerJoin('faultboard_errors as f', 'f.id', 'c.child_error_id')
    .select(['c.parent_error_id', 'c.child_error_id', 'c.followed_count', 'c.parent_count', 'c.probability'])
    .select(['c.average_delay_ms', 'c.last_detected_at'])
    .where('c.probability', '>=', LEAST_PROBABILITY)
    .where('c.last_detected_at', '>=', since)
    .$if(application_id !== undefined, (query) =>
      query.where('p.application_id', '=', application_id ?? 0).where('f.application_id', '=', application_id ?? 0),
    )
    .orderBy('c.followed_count', 'desc')
    .orderBy('c.probability', 'desc')
    .orderBy('c.id')
    .limit(limit)
    .execute()
  const errors = await relatedErrors(
    context,
    rows.flatMap(({ parent_error_id, child_error_id }) => [parent_error_id, child_error_id]),
  )
  return rows.flatMap(({ parent_error_id, child_error_id, probability, last_detected_at, ...counts }) => {
    const [parent, child] = [errors.get(parent_error_id), errors.get(child_error_id)]
    if (!parent || !child) return []
    const detected_at = new Date(last_detected_at).toISOString()
    return [{ parent, child, ...counts, probability: Number(probability), last_detected_at: detected_at }]
  })
}
