import * as v from 'valibot'
import { id, optionalText, requiredText } from '../../model/input/input.js'
import { defineCommand } from '../../operation.js'
import type { ErrorRow } from '../../store/sql/row-locks.js'
import {
  auditError,
  type Change,
  type ChangeResult,
  changeError,
  DEFAULT_ACTOR,
  MAX_NAME_LENGTH,
} from './change-errors.js'

/** Assigns an error to a person. Does not change the status. */
export const assignError = defineCommand({
  input: v.object({
    error_id: id(),
    assigned_to: requiredText({ max: MAX_NAME_LENGTH }),
    actor: optionalText({ max: MAX_NAME_LENGTH }),
  }),
  async run(context, { error_id, assigned_to, actor = DEFAULT_ACTOR }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => assignmentChange(row, assigned_to, actor))
  },
  audit: (input, result) => auditError('assign', input, result, `to ${input.assigned_to}`),
})

/** Removes the assignee of an error. */
export const unassignError = defineCommand({
  input: v.object({ error_id: id(), actor: optionalText({ max: MAX_NAME_LENGTH }) }),
  async run(context, { error_id, actor = DEFAULT_ACTOR }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => assignmentChange(row, null, actor))
  },
  audit: (input, result) => auditError('unassign', input, result),
})

/** Null removes the assignee. */
export function assignmentChange(row: ErrorRow, assigned_to: string | null, actor: string): Change | null {
  if (row.assigned_to === assigned_to) return null
  const action = assigned_to === null ? 'unassigned' : 'assigned'
  return { set: { assigned_to }, activity: { actor, action, from_value: row.assigned_to, to_value: assigned_to } }
}
