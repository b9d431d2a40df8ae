import * as v from 'valibot'
import { id, optionalText, requiredText } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import type { ErrorRow } from '../../store/lock.js'
import { type Change, type ChangeResult, changeError, NAME_LIMIT, NOBODY_NAMED } from './change-errors.js'

/** Gives an error to somebody; its status stays as it is. */
export const assignError = defineOperation({
  input: v.object({
    error_id: id(),
    assigned_to: requiredText({ max: NAME_LIMIT }),
    actor: optionalText({ max: NAME_LIMIT }),
  }),
  async run(context, { error_id, assigned_to, actor = NOBODY_NAMED }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => assignment(row, assigned_to, actor))
  },
})

/** Takes an error from whoever had it. */
export const unassignError = defineOperation({
  input: v.object({ error_id: id(), actor: optionalText({ max: NAME_LIMIT }) }),
  async run(context, { error_id, actor = NOBODY_NAMED }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => assignment(row, null, actor))
  },
})

/** Null takes it from whoever has it. */
export function assignment(row: ErrorRow, assigned_to: string | null, actor: string): Change | null {
  if (row.assigned_to === assigned_to) return null
  const action = assigned_to === null ? 'unassigned' : 'assigned'
  return { set: { assigned_to }, activity: { actor, action, from_value: row.assigned_to, to_value: assigned_to } }
}
