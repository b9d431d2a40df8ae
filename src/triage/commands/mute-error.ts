import * as v from 'valibot'
import { id, integer, optional, optionalText } from '../../model/input/input.js'
import { HOUR, isoTime } from '../../model/time.js'
import { hoursText, isMuted, MAX_SNOOZE_HOURS } from '../../model/workflow.js'
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

/** Mutes notifications about an error, for a number of hours or indefinitely. Lists still show the error. */
export const muteError = defineCommand({
  input: v.object({
    error_id: id(),
    hours: optional(integer({ min: 1, max: MAX_SNOOZE_HOURS })),
    reason: optionalText({ max: MAX_TEXT_LENGTH }),
    muted_by: optionalText({ max: MAX_NAME_LENGTH }),
    actor: optionalText({ max: MAX_NAME_LENGTH }),
  }),
  async run(context, { error_id, ...muteRequest }): Promise<ChangeResult> {
    const mute = muteChange({ ...muteRequest, now: context.now() })
    return changeError(context, error_id, () => mute)
  },
  audit: (input, result) => auditError('mute', input, result, hoursText(input.hours)),
})

export interface MuteRequest {
  hours?: number | undefined
  reason?: string | undefined
  muted_by?: string | undefined
  actor?: string | undefined
  now: number
}

export function muteChange({ hours, reason, muted_by, actor, now }: MuteRequest): Change {
  const mutedByName = muted_by ?? actor ?? DEFAULT_ACTOR
  const muted_until = hours === undefined ? null : now + hours * HOUR
  return {
    set: { muted_at: now, muted_until, muted_by_name: mutedByName, mute_reason: reason ?? null },
    activity: {
      actor: mutedByName,
      action: 'muted',
      to_value: isoTime(muted_until),
      comment: reason,
    },
  }
}

export const unmuteError = defineCommand({
  input: v.object({ error_id: id(), actor: optionalText({ max: MAX_NAME_LENGTH }) }),
  async run(context, { error_id, actor = DEFAULT_ACTOR }): Promise<ChangeResult> {
    return changeError(context, error_id, (row) => unmuteChange(row, actor, context.now()))
  },
  audit: (input, result) => auditError('unmute', input, result),
})

export function unmuteChange(row: ErrorRow, actor: string, now: number): Change | null {
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
