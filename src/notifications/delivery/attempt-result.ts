import type { Context } from '../../context.js'
import { cleanText } from '../../model/text.js'
import { DAY, MINUTE } from '../../model/time.js'
import type { Outcome } from '../channels/channel.js'

/** Changes to the row after an attempt. */
export interface AttemptResult {
  state: 'sent' | 'failed' | 'pending'
  /** Attempts counted so far. Rate-limited attempts do not count. */
  attempts: number
  response: string
  /** Time of the next attempt. */
  run_at?: number
  /** End of the pause for the whole channel. */
  paused_until?: number
}

/** Delays between attempts. There is one more attempt than there are delays. */
const RETRY_DELAYS_MS: readonly number[] = [10_000, MINUTE, 5 * MINUTE, 30 * MINUTE]
const MAX_RETRY_DELAY_MS = DAY
/** Prevents a tight loop when a receiver requests no delay, because rate-limited attempts do not count. */
const MIN_RETRY_DELAY_MS = 500
/** Rate-limited attempts do not count during this time. */
const RATE_LIMIT_GRACE_MS = DAY
const MAX_RESPONSE_LENGTH = 500

export interface Attempt {
  /** Number of previous attempts. */
  attempts: number
  created_at: number
  /** The process was stopped during the attempt. */
  isStopped: boolean
}

/** Determines the next state of a delivery from the result of an attempt. */
export function attemptResult(
  { attempts, created_at, isStopped }: Attempt,
  outcome: Outcome,
  { now, random }: Pick<Context, 'now' | 'random'>,
): AttemptResult {
  const countedAttempts = attempts + 1
  const response = cleanText(outcome.response, MAX_RESPONSE_LENGTH)
  if (outcome.state === 'sent') return { state: 'sent', attempts: countedAttempts, response }
  if (outcome.state === 'refused') return { state: 'failed', attempts: countedAttempts, response }
  // The message may have arrived, so it is sent again with the same key. The interrupted attempt does not count.
  if (isStopped) return { state: 'pending', attempts, response, run_at: now() }
  const requestedDelay = Math.min(outcome.after_ms ?? 0, MAX_RETRY_DELAY_MS)
  if (outcome.rate_limited && now() - created_at < RATE_LIMIT_GRACE_MS) {
    const hasRequestedDelay = outcome.after_ms !== undefined
    const until =
      now() +
      (hasRequestedDelay ? Math.max(requestedDelay, MIN_RETRY_DELAY_MS) : withJitter(RETRY_DELAYS_MS[0] ?? 0, random))
    return { state: 'pending', attempts, response, run_at: until, paused_until: until }
  }
  const retryDelay = RETRY_DELAYS_MS[attempts]
  if (retryDelay === undefined) return { state: 'failed', attempts: countedAttempts, response }
  return {
    state: 'pending',
    attempts: countedAttempts,
    response,
    run_at: now() + Math.max(requestedDelay, withJitter(retryDelay, random)),
  }
}

/** Adds up to 20% jitter, so that simultaneous failures do not retry together. */
function withJitter(pause: number, random: () => number): number {
  return Math.round(pause * (0.8 + 0.4 * random()))
}
