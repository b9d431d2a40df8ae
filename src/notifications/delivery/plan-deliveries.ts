import type { Options } from '../../config/options.js'
import { DELIVERIES } from '../../store/bulk/bulk-targets.js'
import type { Dialect } from '../../store/dialect.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { activeChannels, type ChannelName } from '../channels/channels.js'
import type { Notice } from '../content/notice.js'
import { createQuietHours } from '../rules/quiet-hours.js'
import { meetsThreshold } from '../rules/triggers.js'

/** Notification before its channels are selected. */
export interface Announcement {
  /** Unique key. The channel name is appended for each delivery. */
  key: string
  notice: Notice
  error_id: number | null
  application_id: number | null
  /** Reported by a client. Does not trigger incidents unless `enable_client_paging` is on. */
  isFromClient?: boolean
}

export interface NewDelivery extends Announcement {
  channel: ChannelName
  /** `held` waits for the end of quiet hours, `over_limit` for the summary of the hour. */
  state: 'pending' | 'held' | 'over_limit'
  run_at: number
}

/** Creates the deliveries of an announcement, based on environments, channel thresholds, supported kinds and quiet hours. */
export type DeliveryPlanner = (announcement: Announcement, now: number) => NewDelivery[]

export function createDeliveryPlanner(config: Options): DeliveryPlanner {
  const channels = activeChannels(config)
  const heldUntil = createQuietHours(config)
  return (announcement, now) => {
    if (!isNotifiedEnvironment(announcement.notice, config)) return []
    const mayPage = !announcement.isFromClient || config.enable_client_paging
    return channels
      .filter(
        ({ name, supports }) =>
          supports(announcement.notice.event) && meetsChannelThreshold(announcement.notice, name, config),
      )
      .filter(({ pagesOnCall }) => mayPage || !pagesOnCall)
      .map(({ name }) => {
        const { severity } = announcement.notice
        const until = heldUntil({ channel: name, severity, now, mayPage })
        const key = `${announcement.key}:${name}`
        return { ...announcement, key, channel: name, state: until === null ? 'pending' : 'held', run_at: until ?? now }
      })
  }
}

function isNotifiedEnvironment({ environment }: Notice, { notification_environments }: Options): boolean {
  return notification_environments === null || environment === null || notification_environments.includes(environment)
}

/** Exempt from severity thresholds. A resolve follows a trigger that met its threshold. */
const EXEMPT_EVENTS: readonly Notice['event'][] = ['resolved', 'digest', 'test']

function meetsChannelThreshold(
  { event, severity }: Notice,
  name: ChannelName,
  { severity_thresholds }: Options,
): boolean {
  return EXEMPT_EVENTS.includes(event) || meetsThreshold(severity, severity_thresholds[name] ?? 'low')
}

/** Inserts deliveries. Skips keys that already exist. */
export async function writeDeliveries(
  trx: Transaction<Schema>,
  dialect: Dialect,
  deliveries: readonly NewDelivery[],
  now: number,
): Promise<void> {
  if (deliveries.length === 0) return
  await dialect.insertMany(
    trx,
    DELIVERIES,
    deliveries.map(({ key, channel, notice, error_id, application_id, state, run_at }) => [
      ...[key, channel, notice.event, error_id, application_id, noticeEnvironment(notice)],
      ...[state, JSON.stringify(notice), run_at, now],
    ]),
  )
}

/** Null for summaries and digests, which cover several environments. */
function noticeEnvironment(notice: Notice): string | null {
  const isAboutErrors = 'error' in notice || notice.event === 'baseline' || notice.event === 'assigned'
  return isAboutErrors ? notice.environment : null
}
