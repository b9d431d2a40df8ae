import * as v from 'valibot'
import { choice, id, optionalText } from '../../model/input.js'
import { isResolved, STATUSES, type Status } from '../../model/workflow.js'
import { defineOperation } from '../../operation.js'
import type { ErrorRow } from '../../store/lock.js'
import { type Change, type ChangeResult, changeError, NAME_LIMIT, NOBODY_NAMED, TEXT_LIMIT } from './change-errors.js'

/** Moves an error to another status; any move is allowed, and an open status reopens it. */
export const updateStatus = defineOperation({
  input: v.object({
    error_id: id(),
    status: choice(STATUSES),
    comment: optionalText({ max: TEXT_LIMIT }),
    actor: optionalText({ max: NAME_LIMIT }),
  }),
  async run(context, { error_id, status, comment, actor = NOBODY_NAMED }): Promise<ChangeResult> {
    const move = { status, comment, actor, now: context.now() }
    return changeError(context, error_id, (row) => statusChange(row, move))
  },
})

export interface StatusMove {
  status: Status
  comment?: string | undefined
  actor: string
  now: number
}

/** The same status again is told only where there is something to say about it. */
export function statusChange(row: ErrorRow, { status, comment, actor, now }: StatusMove): Change | null {
  if (row.status === status && comment === undefined) return null
  return {
    set: { status, ...resolutionAfter(row, status, actor, now) },
    activity: { actor, action: 'status_changed', from_value: row.status, to_value: status, comment },
  }
}

function resolutionAfter(row: ErrorRow, status: Status, actor: string, now: number) {
  const was = row.resolved === 1
  if (isResolved(status)) return was ? { resolved: 1 } : { resolved: 1, resolved_at: now, resolved_by_name: actor }
  if (!was) return {}
  return {
    resolved: 0,
    resolved_at: null,
    resolved_by_name: null,
    resolution_comment: null,
    resolution_reference: null,
    reopened_at: now,
  }
}
