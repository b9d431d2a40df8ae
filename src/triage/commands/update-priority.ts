import * as v from 'valibot'
import { id, integer, optionalText } from '../../model/input/input.js'
import { PRIORITIES } from '../../model/workflow.js'
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

/** Sets the priority of an error, from 0 (none) to 4 (critical). */
export const updatePriority = defineCommand({
  input: v.object({
    error_id: id(),
    priority_level: integer({ min: 0, max: 4 }),
    actor: optionalText({ max: MAX_NAME_LENGTH }),
  }),
  async run(context, { error_id, priority_level, actor = DEFAULT_ACTOR }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => priorityChange(row, priority_level, actor))
  },
  audit: (input, result) => auditError('set_priority', input, result, `to ${PRIORITIES[input.priority_level]}`),
})

export function priorityChange(row: ErrorRow, priority_level: number, actor: string): Change | null {
  if (row.priority_level === priority_level) return null
  return {
    set: { priority_level },
    activity: {
      actor,
      action: 'priority_changed',
      from_value: PRIORITIES[row.priority_level] ?? null,
      to_value: PRIORITIES[priority_level] ?? null,
    },
  }
}
