import * as v from 'valibot'
import { id, integer, optionalText } from '../../model/input.js'
import { HOUR } from '../../model/time.js'
import { isSnoozed, MAX_SNOOZE_HOURS } from '../../model/workflow.js'
import { defineOperation } from '../../operation.js'
import type { ErrorRow } from '../../store/lock.js'
import { type Change, type ChangeResult, changeError, NAME_LIMIT, NOBODY_NAMED, TEXT_LIMIT } from './change-errors.js'

/** Hides an error from the lists that leave snoozed ones out, for some hours. */
export const snoozeError = defineOperation({
  input: v.object({
    error_id: id(),
    hours: integer({ min: 1, max: MAX_SNOOZE_HOURS }),
    reason: optionalText({ max: TEXT_LIMIT }),
    actor: optionalText({ max: NAME_LIMIT }),
  }),
  async run(context, { error_id, hours, reason, actor = NOBODY_NAMED }): Promise<ChangeResult> {
    const snoozed_until = context.now() + hours * HOUR
    return changeError(context, error_id, () => snooze(snoozed_until, reason, actor))
  },
})

export function snooze(snoozed_until: number, reason: string | undefined, actor: string): Change {
  return {
    set: { snoozed_until, snooze_reason: reason ?? null },
    activity: { actor, action: 'snoozed', to_value: new Date(snoozed_until).toISOString(), comment: reason },
  }
}

/** Shows a snoozed error again before its time. */
export const unsnoozeError = defineOperation({
  input: v.object({ error_id: id(), actor: optionalText({ max: NAME_LIMIT }) }),
  async run(context, { error_id, actor = NOBODY_NAMED }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => awakening(row, actor, context.now()))
  },
})

function awakening({ snoozed_until }: ErrorRow, actor: string, now: number): Change | null {
  if (snoozed_until === null || !isSnoozed(snoozed_until, now)) return null
  return {
    set: { snoozed_until: null, snooze_reason: null },
    activity: { actor, action: 'unsnoozed', from_value: new Date(snoozed_until).toISOString() },
  }
}
