import type { Options } from '../../config/options.js'
import type { Context } from '../../context.js'
import { cleanText } from '../../model/text.js'
import { DAY, MINUTE } from '../../model/time.js'
import type { ChannelName, Outcome } from '../channels/channel.js'
import { channelStates, listed } from './channel-states.js'

/** What a try leaves in the row. */
export interface Ending {
  state: 'sent' | 'failed' | 'pending'
  /** Tries that count. */
  attempts: number
  answer: string
  /** When it is tried again. */
  run_at?: number
  /** Until when the whole channel is left alone. */
  paused_until?: number
}

/** Between the tries; one more try than there are pauses. */
const PAUSES: readonly number[] = [10_000, MINUTE, 5 * MINUTE, 30 * MINUTE]
const LONGEST_PAUSE = DAY
/** A receiver that asks for no pause at all is not asked without one: its refusals use up no try. */
const SHORTEST_PAUSE = 500
/** A receiver that is told too much is asked for so long before its refusals count. */
const PATIENCE = DAY
const ANSWER_LENGTH = 500

export interface Try {
  /** Those before this one. */
  attempts: number
  created_at: number
  /** The process had to stop in the middle of it. */
  stopped: boolean
}

/** What follows from what became of a try. */
export function endingOf(
  { attempts, created_at, stopped }: Try,
  outcome: Outcome,
  { now, random }: Pick<Context, 'now' | 'random'>,
): Ending {
  const tries = attempts + 1
  const answer = cleanText(outcome.answer, ANSWER_LENGTH)
  if (outcome.state === 'sent') return { state: 'sent', attempts: tries, answer }
  if (outcome.state === 'refused') return { state: 'failed', attempts: tries, answer }
  // It may have arrived: it is sent again under the same key, and the next process has all its tries.
  if (stopped) return { state: 'pending', attempts, answer, run_at: now() }
  const asked = Math.min(outcome.after_ms ?? 0, LONGEST_PAUSE)
  if (outcome.rate_limited && now() - created_at < PATIENCE) {
    const isAsked = outcome.after_ms !== undefined
    const until = now() + (isAsked ? Math.max(asked, SHORTEST_PAUSE) : jittered(PAUSES[0] ?? 0, random))
    return { state: 'pending', attempts, answer, run_at: until, paused_until: until }
  }
  const pause = PAUSES[attempts]
  if (pause === undefined) return { state: 'failed', attempts: tries, answer }
  return { state: 'pending', attempts: tries, answer, run_at: now() + Math.max(asked, jittered(pause, random)) }
}

/** What becomes of a message that no process with its channel came for. */
export function switchedOff(
  { attempts, channel }: { attempts: number; channel: ChannelName },
  config: Options,
): Ending {
  const missing = channelStates(config).find(({ name }) => name === channel)?.missing ?? []
  return { state: 'failed', attempts, answer: `Not sent by ${channel}, which is off: set ${listed(missing)}.` }
}

/** A fifth more or less, so that what failed together is not tried again together. */
function jittered(pause: number, random: () => number): number {
  return Math.round(pause * (0.8 + 0.4 * random()))
}
