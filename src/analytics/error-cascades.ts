import * as v from 'valibot'
import type { Context } from '../context.js'
import { fraction, id, optional } from '../model/input.js'
import { defineOperation } from '../operation.js'
import { type RelatedError, relatedErrors } from './related-errors.js'

export interface Cascade {
  error: RelatedError
  /** Of so many occurrences of the first, so many were followed by the second within a minute. */
  followed_count: number
  parent_count: number
  probability: number
  average_delay_ms: number
  last_detected_at: string
}

export interface ErrorCascades {
  /** What follows this error. */
  leads_to: Cascade[]
  /** What this error follows. */
  caused_by: Cascade[]
}

const MOST = 20

/** What tends to follow an error, and what it tends to follow, as the last detection found it. */
export const errorCascades = defineOperation({
  input: v.object({
    error_id: id(),
    min_probability: v.optional(optional(fraction({ min: 0, max: 1 })), 0.5),
    application_id: optional(id()),
  }),
  async run(context, { error_id, min_probability = 0.5, application_id }): Promise<ErrorCascades> {
    const question = { error_id, min_probability, application_id }
    return {
      leads_to: await cascades(context, question, 'parent_error_id', 'child_error_id'),
      caused_by: await cascades(context, question, 'child_error_id', 'parent_error_id'),
    }
  },
})

type End = 'parent_error_id' | 'child_error_id'

async function cascades(
  context: Context,
  question: { error_id: number; min_probability: number; application_id: number | undefined },
  mine: End,
  others: End,
): Promise<Cascade[]> {
  const rows = await context.database.read
    .selectFrom('faultboard_cascades')
    .selectAll()
    .where(mine, '=', question.error_id)
    .where('probability', '>=', question.min_probability)
    .orderBy('probability', 'desc')
    .orderBy('followed_count', 'desc')
    .orderBy('id')
    .limit(MOST)
    .execute()
  const errors = await relatedErrors(
    context,
    rows.map((row) => row[others]),
    question.application_id,
  )
  return rows.flatMap((row) => {
    const error = errors.get(row[others])
    if (!error) return []
    const { followed_count, parent_count, average_delay_ms } = row
    const last_detected_at = new Date(row.last_detected_at).toISOString()
    return [
      { error, followed_count, parent_count, probability: Number(row.probability), average_delay_ms, last_detected_at },
    ]
  })
}
