import * as v from 'valibot'
import type { Context } from '../../../context.js'
import { type ChannelState, channelStates } from '../../../notifications/delivery/channel-states.js'
import {
  DELIVERY_STATES,
  type DeliveriesPage,
  deliveries,
  deliveriesInput,
} from '../../../notifications/delivery/deliveries.js'
import { type DeliveryCounts, deliveryCounts } from '../../../notifications/delivery/delivery-counts.js'
import { endOfQuiet } from '../../../notifications/rules/quiet-hours.js'
import { definePage, type Visit } from '../../define.js'
import { href, sameWith } from '../../href.js'
import { Empty } from '../../ui/empty.js'
import { PageHead } from '../../ui/page-head.js'
import { Pagination, paginationLinks } from '../../ui/pagination.js'
import { Tabs } from '../../ui/tabs.js'
import { exactTime } from '../../ui/time.js'
import { Channels } from './channels.js'
import { Deliveries } from './deliveries.js'
import { CHANNEL_WORDS, STATE_WORDS } from './labels.js'

interface Notifications extends DeliveriesPage {
  channels: ChannelState[]
  quiet_hours: QuietHours | null
  /** Messages by state, whichever state is asked for. */
  counts: DeliveryCounts
}

interface QuietHours {
  hours: string
  time_zone: string
  bypass_severity: string | null
  /** When those end that are running now. */
  held_until: string | null
}

/** Who is told, by which way, and what became of every message. */
export const notifications = definePage({
  path: '/notifications',
  text: 'The channels, and the log of the messages: state, tries, last answer',
  parameters: v.omit(deliveriesInput, ['error_id']),
  async load(context, parameters): Promise<Notifications> {
    const { channel, application_id } = parameters
    const [log, counts] = await Promise.all([
      deliveries.run(context, parameters),
      deliveryCounts.run(context, { channel, application_id }),
    ])
    return { channels: channelStates(context.config), quiet_hours: quietHours(context), counts, ...log }
  },
  title: ({ counts }) => (counts.failed > 0 ? `(${counts.failed}) Notifications` : 'Notifications'),
  json: (data) => data,
  links: ({ pagination }, visit) => paginationLinks(pagination, visit),
  view: (data, visit, parameters) => (
    <>
      <PageHead title="Notifications" context={rulesText(data)}>
        <a class="button" href={`${href(visit, '/settings')}#notifications`}>
          Settings
        </a>
      </PageHead>
      <div class="stack">
        <Channels channels={data.channels} visit={visit} />
        <section aria-labelledby="log-title">
          <h2 id="log-title">Delivery log</h2>
          <Log data={data} visit={visit} {...parameters} />
        </section>
      </div>
    </>
  ),
})

function quietHours({ config, now }: Context): QuietHours | null {
  const { quiet_hours, quiet_hours_bypass_severity, time_zone } = config
  if (quiet_hours === null) return null
  const end = endOfQuiet(now(), quiet_hours, time_zone)
  return {
    hours: quiet_hours,
    time_zone,
    bypass_severity: quiet_hours_bypass_severity,
    held_until: end === null ? null : new Date(end).toISOString(),
  }
}

function rulesText({ quiet_hours }: Notifications): string {
  if (quiet_hours === null)
    return 'Who is told of new, returning and frequent errors, and what became of every message.'
  const { hours, time_zone, bypass_severity, held_until } = quiet_hours
  const bypass = bypass_severity === null ? '' : `; ${bypass_severity} errors are told at once`
  const now = held_until === null ? '' : ` Running now, until ${exactTime(held_until, time_zone)}.`
  return `Quiet hours ${hours} (${time_zone})${bypass}.${now}`
}

interface LogProps {
  data: Notifications
  visit: Visit
  state?: string | undefined
  channel?: ChannelState['name'] | undefined
}

function Log({ data, visit, state, channel }: LogProps) {
  const { counts, channels } = data
  const total = DELIVERY_STATES.reduce((sum, one) => sum + counts[one], 0)
  if (total === 0 && channel === undefined) return <Nothing channels={channels} />
  return (
    <>
      <Tabs
        label="State"
        tabs={[
          { label: 'All', href: sameWith(visit, { state: null }), current: state === undefined, count: total },
          ...DELIVERY_STATES.map((one) => ({
            label: STATE_WORDS[one],
            href: sameWith(visit, { state: one }),
            current: state === one,
            count: counts[one],
          })),
        ]}
      />
      <ChannelFilter channels={channels} channel={channel} visit={visit} />
      {data.deliveries.length === 0 ? (
        <Empty title="No message fits">
          <a href={href(visit, '/notifications')}>Show all messages</a>
        </Empty>
      ) : (
        <div class="delivery-log">
          <Deliveries deliveries={data.deliveries} visit={visit} />
        </div>
      )}
      <Pagination pagination={data.pagination} visit={visit} />
    </>
  )
}

function ChannelFilter({ channels, channel, visit }: Omit<LogProps, 'data'> & { channels: readonly ChannelState[] }) {
  return (
    <ul class="chips delivery-filter" aria-label="Channel">
      {[undefined, ...channels.map(({ name }) => name)].map((name) => (
        <li>
          <a
            class="chip"
            href={sameWith(visit, { channel: name })}
            aria-current={name === channel ? 'true' : undefined}
          >
            {name === undefined ? 'All channels' : CHANNEL_WORDS[name]}
          </a>
        </li>
      ))}
    </ul>
  )
}

const FIRST_LINES = `Tracker.configure({
  enable_chat_notifications: true,
  chat_webhook_url: 'https://hooks.slack.com/services/…',
  dashboard_base_url: 'https://shop.example', // so that messages can link here
})`

function Nothing({ channels }: { channels: readonly ChannelState[] }) {
  if (channels.some(({ state }) => state === 'on')) {
    return (
      <Empty title="No message was written yet">
        The next error that is new or comes back is told. To see whether messages arrive, send a test above.
      </Empty>
    )
  }
  return (
    <Empty title="Nobody is told of errors yet" code={FIRST_LINES}>
      Turn on a channel, and every message stands here with its state, its tries and what was answered. A chat needs two
      lines:
    </Empty>
  )
}
