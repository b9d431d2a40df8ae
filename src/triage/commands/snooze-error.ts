import * as v from 'valibot'
import { id, integer, optionalText } from '../../model/input/input.js'
import { HOUR } from '../../model/time.js'
import { hoursText, isSnoozed, MAX_SNOOZE_HOURS } from '../../model/workflow.js'
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

/** Snoozes an error: lists with `hide_snoozed` omit it for the given number of hours. */
export const snoozeError = defineCommand({
  input: v.object({
    error_id: id(),
    hours: integer({ min: 1, max: MAX_SNOOZE_HOURS }),
    reason: optionalText({ max: MAX_TEXT_LENGTH }),
    actor: optionalText({ max: MAX_NAME_LENGTH }),
  }),
  async run(context, { error_id, hours, reason, actor = DEFAULT_ACTOR }): Promise<ChangeResult> {
    const snoozed_until = context.now() + hours * HOUR
    return changeError(context, error_id, () => snoozeChange(snoozed_until, reason, actor))
  },
  audit: (input, result) => auditError('snooze', input, result, hoursText(input.hours)),
})

export function snoozeChange(snoozed_until: number, reason: string | undefined, actor: string): Change {
  return {
    set: { snoozed_until, snooze_reason: reason ?? null },
    activity: { actor, action: 'snoozed', to_value: new Date(snoozed_until).toISOString(), comment: reason },
  }
}

/** Ends the snooze of an error early. */
export const unsnoozeError = defineCommand({
  input: v.object({ error_id: id(), actor: optionalText({ max: MAX_NAME_LENGTH }) }),
  async run(context, { error_id, actor = DEFAULT_ACTOR }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => unsnoozeChange(row, actor, context.now()))
  },
  audit: (input, result) => auditError('unsnooze', input, result),
})

function unsnoozeChange({ snoozed_until }: ErrorRow, actor: string, now: number): Change | null {
  if (snoozed_until === null || !isSnoozed(snoozed_until, now)) return null
  return {
    set: { snoozed_until: null, snooze_reason: null },
    activity: { actor, action: 'unsnoozed', from_value: new Date(snoozed_until).toISOString() },
  }
}
