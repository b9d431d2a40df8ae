import * as v from 'valibot'
import { choice, id, optionalText } from '../../model/input/input.js'
import { isResolved, STATUSES, type Status } from '../../model/workflow.js'
import { defineCommand } from '../../operation.js'
import type { ErrorRow } from '../../store/sql/row-locks.js'
import {
  auditError,
  type Change,
  type ChangeResult,
  changeError,
  DEFAULT_ACTOR,
  MAX_NAME_LENGTH,
  MAX_TEXT_LENGTH,
} from './change-errors.js'

/** Changes the status of an error. All transitions are allowed; an open status reopens the error. */
export const updateStatus = defineCommand({
  input: v.object({
    error_id: id(),
    status: choice(STATUSES),
    comment: optionalText({ max: MAX_TEXT_LENGTH }),
    actor: optionalText({ max: MAX_NAME_LENGTH }),
  }),
  async run(context, { error_id, status, comment, actor = DEFAULT_ACTOR }): Promise<ChangeResult> {
    const statusRequest = { status, comment, actor, now: context.now() }
    return changeError(context, error_id, (row) => statusChange(row, statusRequest))
  },
  audit: (input, result) => auditError('set_status', input, result, `to ${input.status}`),
})

export interface StatusRequest {
  status: Status
  comment?: string | undefined
  actor: string
  now: number
}

/** Returns null for an unchanged status without a comment. */
export function statusChange(row: ErrorRow, { status, comment, actor, now }: StatusRequest): Change | null {
  if (row.status === status && comment === undefined) return null
  return {
    set: { status, ...resolutionColumns(row, status, actor, now) },
    activity: { actor, action: 'status_changed', from_value: row.status, to_value: status, comment },
  }
}

function resolutionColumns(row: ErrorRow, status: Status, actor: string, now: number) {
  const wasResolved = row.resolved === 1
  if (isResolved(status))
    return wasResolved ? { resolved: 1 } : { resolved: 1, resolved_at: now, resolved_by_name: actor }
  if (!wasResolved) return {}
  return {
    resolved: 0,
    resolved_at: null,
    resolved_by_name: null,
    resolution_comment: null,
    resolution_reference: null,
    reopened_at: now,
  }
}
