import type { Options } from '../../config/options.js'
import { DELIVERIES } from '../../store/bulk-targets.js'
import type { Dialect } from '../../store/dialect.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import type { Channel } from '../channels/channel.js'
import { activeChannels } from '../channels/channels.js'
import type { Notice } from '../content/notice.js'
import { quietHoursOf } from '../rules/quiet-hours.js'
import { meets } from '../rules/rules.js'

/** Something to be told, to whichever channels want to hear it. */
export interface Tidings {
  /** What makes it this message and no other; the channel is added to it. */
  key: string
  notice: Notice
  error_id: number | null
  application_id: number | null
  /** About an error that a client sent. It does not page anyone unless `enable_client_paging` is on. */
  is_client?: boolean
}

export interface NewDelivery extends Tidings {
  channel: Channel['name']
  /** `held` until quiet hours end, `over_limit` until the summary of the hour. */
  state: 'pending' | 'held' | 'over_limit'
  run_at: number
}

/** Who hears of something: by the thresholds of the channels, what each carries, and the quiet hours. */
export type Addressing = (tidings: Tidings, now: number) => NewDelivery[]

export function addressingOf(config: Options): Addressing {
  const channels = activeChannels(config)
  const heldUntil = quietHoursOf(config)
  return (tidings, now) => {
    const may_page = !tidings.is_client || config.enable_client_paging
    return channels
      .filter(({ name, carries }) => carries(tidings.notice.event) && isGraveEnough(tidings.notice, name, config))
      .filter(({ name }) => may_page || name !== 'incident')
      .map(({ name }) => {
        const { severity } = tidings.notice
        const until = heldUntil({ channel: name, severity, now, may_page })
        const key = `${tidings.key}:${name}`
        return { ...tidings, key, channel: name, state: until === null ? 'pending' : 'held', run_at: until ?? now }
      })
  }
}

/** What is wanted whatever its severity: the end of an incident, which was grave enough to begin. */
const ALWAYS: readonly Notice['event'][] = ['resolved', 'digest', 'test']

function isGraveEnough({ event, severity }: Notice, name: Channel['name'], { severity_thresholds }: Options): boolean {
  return ALWAYS.includes(event) || meets(severity, severity_thresholds[name] ?? 'low')
}

/** Writes them down; one whose key is there already stays as it is. */
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
      ...[key, channel, notice.event, error_id, application_id],
      ...[state, JSON.stringify(notice), run_at, now],
    ]),
  )
}
