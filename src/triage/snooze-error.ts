import * as v from 'valibot'
import { id, integer, optionalText } from '../model/input.js'
import { HOUR } from '../model/time.js'
import { MAX_SNOOZE_HOURS } from '../model/workflow.js'
import { defineOperation } from '../operation.js'
import { type Change, changeError, NAME_LIMIT, NOBODY_NAMED, TEXT_LIMIT } from './change-errors.js'

/** Hides an error from the lists that leave snoozed ones out, for some hours. */
export const snoozeError = defineOperation({
  input: v.object({
    error_id: id(),
    hours: integer({ min: 1, max: MAX_SNOOZE_HOURS }),
    reason: optionalText({ max: TEXT_LIMIT }),
    actor: optionalText({ max: NAME_LIMIT }),
  }),
  async run(context, { error_id, hours, reason, actor = NOBODY_NAMED }): Promise<void> {
    const snoozed_until = context.now() + hours * HOUR
    await changeError(context, error_id, () => snooze(snoozed_until, reason, actor))
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
  async run(context, { error_id, actor = NOBODY_NAMED }): Promise<void> {
    await changeError(context, error_id, (row) => ({
      set: { snoozed_until: null, snooze_reason: null },
      activity: {
        actor,
        action: 'unsnoozed',
        from_value: row.snoozed_until === null ? null : new Date(row.snoozed_until).toISOString(),
      },
    }))
  },
})
