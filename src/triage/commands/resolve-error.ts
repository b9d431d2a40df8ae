import * as v from 'valibot'
import { id, optionalText } from '../../model/input/input.js'
import { defineCommand } from '../../operation.js'
import type { ErrorRow } from '../../store/sql/row-locks.js'
import {
  auditError,
  type Change,
  type ChangeResult,
  changeError,
  DEFAULT_ACTOR,
  MAX_NAME_LENGTH,
  MAX_REFERENCE_LENGTH,
  MAX_TEXT_LENGTH,
} from './change-errors.js'

/** Resolves an error with an optional name, comment and link to the change. */
export const resolveError = defineCommand({
  input: v.object({
    error_id: id(),
    resolved_by: optionalText({ max: MAX_NAME_LENGTH }),
    resolution_comment: optionalText({ max: MAX_TEXT_LENGTH }),
    resolution_reference: optionalText({ max: MAX_REFERENCE_LENGTH }),
    actor: optionalText({ max: MAX_NAME_LENGTH }),
  }),
  async run(context, { error_id, ...resolution }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => resolveChange(row, { ...resolution, now: context.now() }))
  },
  audit: (input, result) => auditError('resolve', input, result),
})

export interface ResolveRequest {
  resolved_by?: string | undefined
  resolution_comment?: string | undefined
  resolution_reference?: string | undefined
  actor?: string | undefined
  now: number
}

export function resolveChange(
  row: ErrorRow,
  { resolved_by, resolution_comment, resolution_reference, actor, now }: ResolveRequest,
): Change | null {
  const resolvedByName = resolved_by ?? actor ?? DEFAULT_ACTOR
  const wasResolved = row.status === 'resolved'
  const previous = wasResolved ? row : { resolution_comment: null, resolution_reference: null }
  const resolution = {
    resolution_comment: resolution_comment ?? previous.resolution_comment,
    resolution_reference: resolution_reference ?? previous.resolution_reference,
  }
  if (
    wasResolved &&
    resolution.resolution_comment === row.resolution_comment &&
    resolution.resolution_reference === row.resolution_reference
  ) {
    return null
  }
  return {
    // Keeps the original time and resolver if a comment is added later.
    set: wasResolved
      ? resolution
      : { status: 'resolved', resolved: 1, resolved_at: now, resolved_by_name: resolvedByName, ...resolution },
    activity: {
      actor: resolvedByName,
      action: 'resolved',
      from_value: row.status,
      to_value: 'resolved',
      // Kept in the activity trail because reopening clears both columns.
      comment: [resolution_comment, resolution_reference].filter(Boolean).join('\n') || null,
    },
  }
}
