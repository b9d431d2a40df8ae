import * as v from 'valibot'
import type { Context } from '../../context.js'
import { fraction, id, optional, withDefault } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sort-order.js'
import { expectError } from '../existing-error.js'
import { type RankedError, rankedErrors } from '../ranked-errors.js'
import { cascadesSince } from './cascade-detector.js'

export interface Cascade {
  error: RankedError
  /** Of so many occurrences of the first, so many were followed by the second within a minute. */
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

export interface ErrorCascades {
  /** What follows this error. */
  leads_to: Cascade[]
  /** What this error follows. */
  caused_by: Cascade[]
}

const MOST = 20

export const MIN_PROBABILITY = 0.5

/** What tends to follow an error, and what it tends to follow, as the last detection found it. */
export const errorCascades = defineOperation({
  input: v.object({
    error_id: id(),
    min_probability: withDefault(fraction({ min: 0, max: 1 }), MIN_PROBABILITY),
    application_id: optional(id()),
  }),
  async run(context, { error_id, min_probability, application_id }): Promise<ErrorCascades> {
    await expectError(context, { error_id, application_id })
    const question = { error_id, min_probability, counted_since: await cascadesSince(context) }
    return {
      leads_to: await cascades(context, question, 'parent_error_id', 'child_error_id'),
      caused_by: await cascades(context, question, 'child_error_id', 'parent_error_id'),
    }
  },
})

type End = 'parent_error_id' | 'child_error_id'

async function cascades(
  context: Context,
  question: { error_id: number; min_probability: number; counted_since: string | null },
  mine: End,
  others: End,
): Promise<Cascade[]> {
  const { dialect } = context.database
  const [ofParent, ofChild] = [withoutIndex(dialect, 'p.application_id'), withoutIndex(dialect, 'f.application_id')]
  const rows = await context.database.read
    .selectFrom('faultboard_cascades as c')
    .innerJoin('faultboard_errors as p', 'p.id', 'c.parent_error_id')
    .innerJoin('faultboard_errors as f', 'f.id', 'c.child_error_id')
    .selectAll('c')
    .where(`c.${mine}`, '=', question.error_id)
    .where('c.probability', '>=', question.min_probability)
    .where('c.expected_probability', 'is not', null)
    // An older detection may have taken what two applications did at the same time for a cascade.
    .where(sql<boolean>`${ofParent} = ${ofChild}`)
    .orderBy('c.probability', 'desc')
    .orderBy('c.followed_count', 'desc')
    .orderBy('c.id')
    .limit(MOST)
    .execute()
  const errors = await rankedErrors(
    context,
    rows.map((row) => row[others]),
  )
  return rows.flatMap((row) => {
    const error = errors.get(row[others])
    if (!error) return []
    const { followed_count, parent_count, average_delay_ms } = row
    return [
      {
        error,
        followed_count,
        parent_count,
        ...liftOf(row),
        average_delay_ms,
        counted_since: question.counted_since,
        last_detected_at: new Date(row.last_detected_at).toISOString(),
      },
    ]
  })
}

/** The probabilities of a stored cascade as numbers, and their ratio. */
export function liftOf(row: { probability: number; expected_probability: number | null }) {
  const [probability, expected_probability] = [Number(row.probability), Number(row.expected_probability)]
  return { probability, expected_probability, lift: probability / expected_probability }
}
