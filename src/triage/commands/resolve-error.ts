import * as v from 'valibot'
import { id, optionalText } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import type { ErrorRow } from '../../store/lock.js'
import {
  type Change,
  type ChangeResult,
  changeError,
  NAME_LIMIT,
  NOBODY_NAMED,
  REFERENCE_LIMIT,
  TEXT_LIMIT,
} from './change-errors.js'

/** Marks an error as resolved, with who did it, why, and a link to the change. */
export const resolveError = defineOperation({
  input: v.object({
    error_id: id(),
    resolved_by: optionalText({ max: NAME_LIMIT }),
    resolution_comment: optionalText({ max: TEXT_LIMIT }),
    resolution_reference: optionalText({ max: REFERENCE_LIMIT }),
    actor: optionalText({ max: NAME_LIMIT }),
  }),
  async run(context, { error_id, ...resolution }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => resolutionOf(row, { ...resolution, now: context.now() }))
  },
})

export interface Resolution {
  resolved_by?: string | undefined
  resolution_comment?: string | undefined
  resolution_reference?: string | undefined
  actor?: string | undefined
  now: number
}

export function resolutionOf(
  row: ErrorRow,
  { resolved_by, resolution_comment, resolution_reference, actor, now }: Resolution,
): Change | null {
  const who = resolved_by ?? actor ?? NOBODY_NAMED
  const again = row.status === 'resolved'
  const before = again ? row : { resolution_comment: null, resolution_reference: null }
  const reason = {
    resolution_comment: resolution_comment ?? before.resolution_comment,
    resolution_reference: resolution_reference ?? before.resolution_reference,
  }
  if (
    again &&
    reason.resolution_comment === row.resolution_comment &&
    reason.resolution_reference === row.resolution_reference
  ) {
    return null
  }
  return {
    // Who adds a reason later has not resolved it later.
    set: again ? reason : { status: 'resolved', resolved: 1, resolved_at: now, resolved_by_name: who, ...reason },
    activity: {
      actor: who,
      action: 'resolved',
      from_value: row.status,
      to_value: 'resolved',
      // The trail keeps both, because a reopened error loses them.
      comment: [resolution_comment, resolution_reference].filter(Boolean).join('\n') || null,
    },
  }
}
