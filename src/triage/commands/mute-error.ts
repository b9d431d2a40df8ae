import * as v from 'valibot'
import { id, integer, optional, optionalText } from '../../model/input.js'
import { HOUR, isoTime } from '../../model/time.js'
import { isMuted, MAX_SNOOZE_HOURS } from '../../model/workflow.js'
import { defineOperation } from '../../operation.js'
import type { ErrorRow } from '../../store/lock.js'
import { type Change, type ChangeResult, changeError, NAME_LIMIT, NOBODY_NAMED, TEXT_LIMIT } from './change-errors.js'

/** Sends no more messages about an error, for some hours or until somebody wants them again; the lists still show it. */
export const muteError = defineOperation({
  input: v.object({
    error_id: id(),
    hours: optional(integer({ min: 1, max: MAX_SNOOZE_HOURS })),
    reason: optionalText({ max: TEXT_LIMIT }),
    muted_by: optionalText({ max: NAME_LIMIT }),
    actor: optionalText({ max: NAME_LIMIT }),
  }),
  async run(context, { error_id, ...wanted }): Promise<ChangeResult> {
    const mute = muteOf({ ...wanted, now: context.now() })
    return changeError(context, error_id, () => mute)
  },
})

export interface MuteWish {
  hours?: number | undefined
  reason?: string | undefined
  muted_by?: string | undefined
  actor?: string | undefined
  now: number
}

export function muteOf({ hours, reason, muted_by, actor, now }: MuteWish): Change {
  const who = muted_by ?? actor ?? NOBODY_NAMED
  const muted_until = hours === undefined ? null : now + hours * HOUR
  return {
    set: { muted_at: now, muted_until, muted_by_name: who, mute_reason: reason ?? null },
    activity: {
      actor: who,
      action: 'muted',
      to_value: isoTime(muted_until),
      comment: reason,
    },
  }
}

/** Lets messages about an error be sent again. */
export const unmuteError = defineOperation({
  input: v.object({ error_id: id(), actor: optionalText({ max: NAME_LIMIT }) }),
  async run(context, { error_id, actor = NOBODY_NAMED }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => unmute(row, actor, context.now()))
  },
})

export function unmute(row: ErrorRow, actor: string, now: number): Change | null {
  if (!isMuted(row, now)) return null
  const { muted_until } = row
  return {
    set: { muted_at: null, muted_until: null, muted_by_name: null, mute_reason: null },
    activity: {
      actor,
      action: 'unmuted',
      from_value: isoTime(muted_until),
    },
  }
}
