import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import type { CascadesTable } from '../../store/schema.js'
import { loadRankedErrors, RankedError } from '../ranked-errors.js'
import { cascadesCountedSince } from './cascade-detector.js'
import { MIN_PROBABILITY, withLift } from './error-cascades.js'

/** Pair of errors: a child that tends to follow its parent. */
export const StrongCascade = r.named(
  'StrongCascade',
  r.object({
    parent: RankedError,
    child: RankedError,
    followed_count: r.integer,
    parent_count: r.integer,
    probability: r.number,
    /** Probability expected by chance, based on the time that the child covers. */
    expected_probability: r.number,
    /** `probability / expected_probability`, at least 2. */
    lift: r.number,
    average_delay_ms: r.integer,
    /** Start of the counted period. */
    counted_since: r.nullable(r.time),
    last_detected_at: r.time,
  }),
)
export type StrongCascade = v.InferOutput<typeof StrongCascade>

/** Page size. Most rows are used, unless other applications have more cascades. */
const ROWS_PER_PAGE = 50

/** Returns cascades detected since a time, most frequent first. */
export async function strongestCascades(
  context: Context,
  scope: Scope,
  since: number,
  limit: number,
): Promise<StrongCascade[]> {
  const cascades: StrongCascade[] = []
  const counted_since = await cascadesCountedSince(context)
  for (let offset = 0; cascades.length < limit; offset += ROWS_PER_PAGE) {
    const rows = await context.database.read
      .selectFrom('faultboard_cascades')
      .select(['parent_error_id', 'child_error_id', 'followed_count', 'parent_count', 'probability'])
      .select(['expected_probability', 'average_delay_ms', 'last_detected_at'])
      .where('probability', '>=', MIN_PROBABILITY)
      .where('expected_probability', 'is not', null)
      .where('last_detected_at', '>=', since)
      .orderBy('followed_count', 'desc')
      .orderBy('probability', 'desc')
      .orderBy('id')
      .limit(ROWS_PER_PAGE)
      .offset(offset)
      .execute()
    // Loaded separately, because a join would read every error.
    const ids = rows.flatMap(({ parent_error_id, child_error_id }) => [parent_error_id, child_error_id])
    const errors = await loadRankedErrors(context, ids, scope)
    for (const row of rows) cascades.push(...toCascade(row, errors, counted_since))
    if (rows.length < ROWS_PER_PAGE) break
  }
  return cascades.slice(0, limit)
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

/** Returns nothing if one error was deleted or belongs to another application. */
function toCascade(
  { parent_error_id, child_error_id, probability, expected_probability, last_detected_at, ...counts }: Row,
  errors: ReadonlyMap<number, RankedError>,
  counted_since: string | null,
): StrongCascade[] {
  const [parent, child] = [errors.get(parent_error_id), errors.get(child_error_id)]
  if (!parent || parent.application_id !== child?.application_id) return []
  const lift = withLift({ probability, expected_probability })
  const detected_at = new Date(last_detected_at).toISOString()
  return [{ parent, child, ...counts, ...lift, counted_since, last_detected_at: detected_at }]
}
