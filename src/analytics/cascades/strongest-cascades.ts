import type { Context } from '../../context.js'
import type { CascadesTable } from '../../store/schema.js'
import { type RankedError, rankedErrors } from '../ranked-errors.js'
import type { Scope } from '../sums/application-filter.js'
import { cascadesSince } from './cascade-detector.js'
import { liftOf } from './error-cascades.js'

/** Two errors of which one tends to follow the other. */
export interface StrongCascade {
  parent: RankedError
  child: RankedError
  followed_count: number
  parent_count: number
  probability: number
  /** Probability by chance, from how much of the counted time the child fills. */
  expected_probability: number
  /** `probability / expected_probability`, at least 2. */
  lift: number
  average_delay_ms: number
  /** Since when both were counted. */
  counted_since: string | null
  last_detected_at: string
}

const LEAST_PROBABILITY = 0.5
/** Nearly all that are read are shown, unless other applications have more of them. */
const AT_ONCE = 50

/** The cascades that were found since then, those that happened most often first. */
export async function strongestCascades(
  context: Context,
  { application_id }: Scope,
  since: number,
  limit: number,
): Promise<StrongCascade[]> {
  const found: StrongCascade[] = []
  const counted_since = await cascadesSince(context)
  for (let offset = 0; found.length < limit; offset += AT_ONCE) {
    const rows = await context.database.read
      .selectFrom('faultboard_cascades')
      .select(['parent_error_id', 'child_error_id', 'followed_count', 'parent_count', 'probability'])
      .select(['expected_probability', 'average_delay_ms', 'last_detected_at'])
      .where('probability', '>=', LEAST_PROBABILITY)
      .where('expected_probability', 'is not', null)
      .where('last_detected_at', '>=', since)
      .orderBy('followed_count', 'desc')
      .orderBy('probability', 'desc')
      .orderBy('id')
      .limit(AT_ONCE)
      .offset(offset)
      .execute()
    // Looked up afterwards: joined to them, every error there is would be read.
    const ids = rows.flatMap(({ parent_error_id, child_error_id }) => [parent_error_id, child_error_id])
    const errors = await rankedErrors(context, ids, application_id)
    for (const row of rows) found.push(...cascadeOf(row, errors, counted_since))
    if (rows.length < AT_ONCE) break
  }
  return found.slice(0, limit)
}

type Row = Pick<
  CascadesTable,
  | 'parent_error_id'
  | 'child_error_id'
  | 'followed_count'
  | 'parent_count'
  | 'probability'
  | 'expected_probability'
  | 'average_delay_ms'
  | 'last_detected_at'
>

/** None where one of the two is gone, or of another application. */
function cascadeOf(
  { parent_error_id, child_error_id, probability, expected_probability, last_detected_at, ...counts }: Row,
  errors: ReadonlyMap<number, RankedError>,
  counted_since: string | null,
): StrongCascade[] {
  const [parent, child] = [errors.get(parent_error_id), errors.get(child_error_id)]
  if (!parent || parent.application_id !== child?.application_id) return []
  const lift = liftOf({ probability, expected_probability })
  const detected_at = new Date(last_detected_at).toISOString()
  return [{ parent, child, ...counts, ...lift, counted_since, last_detected_at: detected_at }]
}
