import * as v from 'valibot'
import type { Context } from '../../context.js'
import { fraction, id, withDefault } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { assertErrorExists } from '../existing-error.js'
import { loadRankedErrors, RankedError } from '../ranked-errors.js'
import { cascadesCountedSince } from './cascade-detector.js'

export const Cascade = r.object({
  error: RankedError,
  /** Number of parent occurrences that the child followed within a minute. */
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
})
export type Cascade = v.InferOutput<typeof Cascade>

export const ErrorCascades = r.object({
  /** Errors that follow this error. */
  leads_to: r.list(Cascade),
  /** Errors that this error follows. */
  caused_by: r.list(Cascade),
})
export type ErrorCascades = v.InferOutput<typeof ErrorCascades>

const MAX_CASCADES = 20

export const MIN_PROBABILITY = 0.5

/** Returns the errors that tend to follow an error or precede it, from the latest detection. */
export const errorCascades = defineOperation({
  input: v.object({
    error_id: id(),
    min_probability: withDefault(fraction({ min: 0, max: 1 }), MIN_PROBABILITY),
    ...scopeInput,
  }),
  async run(context, { error_id, min_probability, application_id, environment }): Promise<ErrorCascades> {
    const scope = { application_id, environment }
    await assertErrorExists(context, error_id, scope)
    const filter = { error_id, min_probability, counted_since: await cascadesCountedSince(context) }
    return {
      leads_to: await loadCascades(context, filter, 'parent_error_id', 'child_error_id'),
      caused_by: await loadCascades(context, filter, 'child_error_id', 'parent_error_id'),
    }
  },
})

type CascadeEnd = 'parent_error_id' | 'child_error_id'

async function loadCascades(
  context: Context,
  filter: { error_id: number; min_probability: number; counted_since: string | null },
  ownColumn: CascadeEnd,
  otherColumn: CascadeEnd,
): Promise<Cascade[]> {
  const { dialect } = context.database
  const [parentApplication, childApplication] = [
    withoutIndex(dialect, 'p.application_id'),
    withoutIndex(dialect, 'f.application_id'),
  ]
  const rows = await context.database.read
    .selectFrom('faultboard_cascades as c')
    .innerJoin('faultboard_errors as p', 'p.id', 'c.parent_error_id')
    .innerJoin('faultboard_errors as f', 'f.id', 'c.child_error_id')
    .selectAll('c')
    .where(`c.${ownColumn}`, '=', filter.error_id)
    .where('c.probability', '>=', filter.min_probability)
    .where('c.expected_probability', 'is not', null)
    // Excludes pairs across applications, which older versions could detect.
    .where(sql<boolean>`${parentApplication} = ${childApplication}`)
    .orderBy('c.probability', 'desc')
    .orderBy('c.followed_count', 'desc')
    .orderBy('c.id')
    .limit(MAX_CASCADES)
    .execute()
  const errors = await loadRankedErrors(
    context,
    rows.map((row) => row[otherColumn]),
  )
  return rows.flatMap((row) => {
    const error = errors.get(row[otherColumn])
    if (!error) return []
    const { followed_count, parent_count, average_delay_ms } = row
    return [
      {
        error,
        followed_count,
        parent_count,
        ...withLift(row),
        average_delay_ms,
        counted_since: filter.counted_since,
        last_detected_at: new Date(row.last_detected_at).toISOString(),
      },
    ]
  })
}

/** Converts the stored probabilities to numbers and adds their ratio. */
export function withLift(row: { probability: number; expected_probability: number | null }) {
  const [probability, expected_probability] = [Number(row.probability), Number(row.expected_probability)]
  return { probability, expected_probability, lift: probability / expected_probability }
}
