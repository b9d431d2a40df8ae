import type { Context } from '../../context.js'
import type { Outcome } from '../channels/channel.js'
import { CHANNELS, type ChannelName } from '../channels/channels.js'
import type { Notice } from '../content/notice.js'
import { type AttemptResult, attemptResult } from './attempt-result.js'
import { type ClaimedDelivery, isClaimedAs } from './claim-due.js'
import { resumeTime, spreadBacklog, startPause } from './receiver-pause.js'
import { sendOnce } from './send-once.js'

/** Makes one attempt to send a claimed delivery and records the result. */
export async function deliver(context: Context, delivery: ClaimedDelivery, signal: AbortSignal): Promise<void> {
  const { idempotency_key: key, attempts, created_at } = delivery
  const channel = CHANNELS[delivery.channel as ChannelName]
  const notice = parseNotice(delivery.payload)
  const outcome: Outcome = notice
    ? await sendOnce(context, channel, { key, notice }, signal)
    : { state: 'refused', response: 'The stored notification is damaged.' }
  const result = attemptResult({ attempts, created_at, isStopped: signal.aborted }, outcome, context)
  await recordResult(context, { delivery, result, signal })
}

/** Returns null for a damaged row. Throwing would retry the delivery forever. */
function parseNotice(payload: string): Notice | null {
  try {
    return JSON.parse(payload)
  } catch {
    return null
  }
}

/** Delay between retries of a failed write. A lost result would cause a second notification. */
const WRITE_RETRY_DELAY_MS = 250

interface FinishedAttempt {
  delivery: ClaimedDelivery
  result: AttemptResult
  signal: AbortSignal
}

/** Records the result of an attempt and schedules the next attempt. */
async function recordResult(context: Context, finished: FinishedAttempt): Promise<void> {
  const { delivery, result } = finished
  const { paused_until } = result
  const isFirstRateLimit =
    paused_until !== undefined && (await retryUntilWritten(finished, () => startPause(context, delivery, paused_until)))
  const run_at = paused_until === undefined || isFirstRateLimit ? result.run_at : resumeTime(context, paused_until)
  await retryUntilWritten(finished, () => writeResult(context, finished, run_at))
  if (isFirstRateLimit && paused_until !== undefined) await spreadBacklog(context, delivery, paused_until)
}

async function writeResult(
  { database, now }: Context,
  { delivery, result }: FinishedAttempt,
  run_at: number | undefined,
): Promise<void> {
  const { state, attempts, response } = result
  await database.write((trx) =>
    trx
      .updateTable('faultboard_deliveries')
      .set({
        ...{ state, attempts, last_response: response, locked_until: null },
        ...(state === 'pending' ? { run_at } : { finished_at: now() }),
        ...(attempts > delivery.attempts ? { attempted_at: now() } : {}),
      })
      .where(isClaimedAs(delivery))
      .execute(),
  )
}

async function retryUntilWritten<T>({ delivery, signal }: FinishedAttempt, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || performance.now() > delivery.deadline) throw error
    }
    await new Promise<void>((resume) => setTimeout(resume, WRITE_RETRY_DELAY_MS).unref())
  }
}
