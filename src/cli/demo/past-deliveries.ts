import { HOUR, MINUTE } from '../../model/time.js'
import type { ErrorNotice } from '../../notifications/content/notice.js'
import type { TrackerInstance } from '../../tracker.js'
import { createDatabaseFrom } from '../tracker-database.js'

/** A message about a sample error: hours ago, the key of the error, and the milestone that it reached. */
type PastMessage = readonly [hours_ago: number, error: string, event: ErrorNotice['event'], milestone?: number]

/** Oldest first. Sent to both channels. */
const PAST_MESSAGES: readonly PastMessage[] = [
  [23 * 24 - 9, 'search-down', 'milestone', 500],
  [20 * 24 - 2, 'cart-price', 'new'],
  [15 * 24 - 3, 'ios-decoding', 'new'],
  [13 * 24, 'ledger-balance', 'milestone', 10],
  [12 * 24, 'payment-declined', 'milestone', 500],
  [11 * 24 - 8, 'dunning-date', 'new'],
  [9 * 24 - 1, 'lines-undefined', 'new'],
  [8.9 * 24, 'cart-price', 'milestone', 100],
  [8 * 24, 'pool-exhausted', 'milestone', 100],
  [6 * 24 - 1, 'coupon-loop', 'reopened'],
  [6 * 24 - 2, 'locale-import', 'new'],
  [5.4 * 24, 'locale-import', 'milestone', 10],
  [5 * 24, 'ios-decoding', 'milestone', 100],
  [4.1 * 24, 'checkout-failed', 'milestone', 100],
  [4 * 24, 'lines-undefined', 'milestone', 50],
  [2 * 24, 'rate-limited', 'milestone', 500],
  [26, 'locale-import', 'milestone', 50],
  [0.33, 'order-not-saved', 'new'],
  [0.15, 'order-state', 'milestone', 500],
  [0.1, 'order-not-saved', 'milestone', 10],
]

const FAILED_MESSAGE: PastMessage = [7 * 24, 'invoice-pdf', 'milestone', 100]

const [QUIET_SINCE_HOURS, QUIET_FOR_HOURS] = [2, 8]

/** Quiet hours that include the start of the demo, so that the message about the browser error is held. */
export function demoQuietHours(now: number): string {
  const hourText = (time: number) => `${String(new Date(time).getUTCHours()).padStart(2, '0')}:00`
  const start = now - QUIET_SINCE_HOURS * HOUR
  return `${hourText(start)}-${hourText(start + QUIET_FOR_HOURS * HOUR)}`
}

/** Writes the delivery log of the last weeks. Messages about new errors of the demo are sent for real. */
export async function recordPastDeliveries(
  tracker: TrackerInstance,
  ids: ReadonlyMap<string, number>,
  now: number,
): Promise<void> {
  const sent = { state: 'sent', attempts: 1, last_response: '200 ok' }
  const failed = { state: 'failed', attempts: 5, last_response: '410 Gone: this webhook was deleted' }
  const rows = [
    ...PAST_MESSAGES.flatMap((message) => ['chat', 'webhook'].map((channel) => ({ message, channel, ...sent }))),
    ...['chat', 'webhook'].map((channel) => ({ message: FAILED_MESSAGE, channel, ...failed })),
  ].sort((a, b) => b.message[0] - a.message[0])
  const database = createDatabaseFrom(tracker.config)
  try {
    for (const { message, channel, ...outcome } of rows) {
      const [hours_ago, key, event, milestone] = message
      const error_id = ids.get(key)
      if (error_id === undefined) continue
      const created_at = Math.round(now - hours_ago * HOUR)
      const notice = await pastNotice(tracker, error_id, { event, at: created_at, milestone })
      const row = {
        idempotency_key: `${event}:${error_id}${milestone ? `:${milestone}` : ''}:${channel}`,
        ...{ channel, event, error_id, application_id: notice.error.application_id },
        ...{ environment: notice.environment, created_at },
        payload: JSON.stringify(notice),
        locked_until: null,
        run_at: null,
        finished_at: created_at + outcome.attempts * MINUTE - MINUTE + 240,
        ...outcome,
      }
      await database.write((trx) => trx.insertInto('faultboard_deliveries').values(row).execute())
    }
  } finally {
    await database.close()
  }
}

async function pastNotice(
  { Queries }: TrackerInstance,
  error_id: number,
  { event, at, milestone }: { event: ErrorNotice['event']; at: number; milestone: number | undefined },
): Promise<ErrorNotice> {
  const error = await Queries.FindError.call({ error_id })
  return {
    ...{ event, at, severity: error.severity, application_name: error.application_name, environment: 'production' },
    ...(milestone === undefined ? {} : { milestone }),
    error: {
      id: error.id,
      application_id: error.application_id,
      error_type: error.error_type,
      message: error.message,
      place: error.place,
      platform: error.platform,
      app_version: error.last_app_version,
      occurrence_count: milestone ?? error.occurrence_count,
      first_seen_at: Date.parse(error.first_seen_at),
      occurred_at: at,
      hash_signature: error.hash_signature,
      regressed_in_version: error.regressed_in_version,
    },
  }
}
