import * as v from 'valibot'
import type { Context } from '../../../context.js'
import * as r from '../../../model/result.js'
import {
  DELIVERY_STATES,
  DeliveriesPage,
  DeliveryCounts,
  deliveries,
  deliveriesInput,
  deliveryCounts,
} from '../../../notifications/delivery/deliveries.js'
import { endOfQuietHours } from '../../../notifications/rules/quiet-hours.js'
import { definePage, type Visit } from '../../define.js'
import { currentPageWith, href } from '../../links/href.js'
import { Empty } from '../../ui/empty.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { Tabs } from '../../ui/layout/tabs.js'
import { Pagination, paginationLinks } from '../../ui/pagination.js'
import { ExactTime } from '../../ui/time.js'
import { ChannelWithHealth, channelsWithHealth } from './channel-health.js'
import { Channels } from './channels.js'
import { Deliveries } from './deliveries.js'
import { channelLabel, DELIVERY_STATE_LABELS } from './labels.js'

const QuietHours = r.object({
  hours: r.text,
  time_zone: r.text,
  bypass_severity: r.nullable(r.text),
  /** End of the current quiet hours. */
  held_until: r.nullable(r.time),
})
type QuietHours = v.InferOutput<typeof QuietHours>

const Notifications = r.object({
  channels: r.list(ChannelWithHealth),
  quiet_hours: r.nullable(QuietHours),
  /** Notifications by state, regardless of the state filter. */
  counts: DeliveryCounts,
  ...DeliveriesPage.entries,
})
type Notifications = v.InferOutput<typeof Notifications>

export const notifications = definePage({
  path: '/notifications',
  text: 'Channels and delivery log: state, attempts and last response',
  role: 'viewer',
  parameters: v.omit(deliveriesInput, ['error_id']),
  async load(context, parameters): Promise<Notifications> {
    const { channel, application_id, environment } = parameters
    const [channels, log, counts] = await Promise.all([
      channelsWithHealth(context),
      deliveries.run(context, parameters),
      deliveryCounts.run(context, { channel, application_id, environment }),
    ])
    return { channels, quiet_hours: quietHours(context), counts, ...log }
  },
  title: ({ counts }) => (counts.failed > 0 ? `(${counts.failed}) Alerts` : 'Alerts'),
  response: Notifications,
  json: (data) => data,
  links: ({ pagination }, visit) => paginationLinks(pagination, visit),
  view: (data, visit, parameters) => (
    <>
      <PageHead title="Alerts" context={<QuietHoursText data={data} visit={visit} />}>
        <a class="button" href={`${href(visit, '/settings')}#notifications`}>
          Settings
        </a>
      </PageHead>
      <div class="stack">
        <Channels channels={data.channels} visit={visit} />
        <section aria-labelledby="log-title">
          <h2 id="log-title">Delivery log</h2>
          <DeliveryLog data={data} visit={visit} {...parameters} />
        </section>
      </div>
    </>
  ),
})

function quietHours({ config, now }: Context): QuietHours | null {
  const { quiet_hours, quiet_hours_bypass_severity, time_zone } = config
  if (quiet_hours === null) return null
  const end = endOfQuietHours(now(), quiet_hours, time_zone)
  return {
    hours: quiet_hours,
    time_zone,
    bypass_severity: quiet_hours_bypass_severity,
    held_until: end === null ? null : new Date(end).toISOString(),
  }
}

function QuietHoursText({ data: { quiet_hours }, visit }: { data: Notifications; visit: Visit }) {
  if (quiet_hours === null) return 'Channels and delivery log'
  const { hours, time_zone, bypass_severity, held_until } = quiet_hours
  const bypass = bypass_severity === null ? '' : `; ${bypassText(bypass_severity)} are sent immediately`
  return (
    <>
      Quiet hours {hours} ({time_zone}){bypass}.
      {held_until !== null && (
        <>
          {' Active until '}
          <ExactTime iso={held_until} visit={visit} />.
        </>
      )}
    </>
  )
}

function bypassText(severity: string): string {
  if (severity === 'low') return 'all errors'
  return severity === 'critical' ? 'critical errors' : `${severity} and more severe errors`
}

interface DeliveryLogProps {
  data: Notifications
  visit: Visit
  state?: string | undefined
  channel?: ChannelWithHealth['name'] | undefined
}

function DeliveryLog({ data, visit, state, channel }: DeliveryLogProps) {
  const { counts, channels } = data
  const total = DELIVERY_STATES.reduce((sum, state) => sum + counts[state], 0)
  if (total === 0 && channel === undefined && visit.environment === null) return <NoDeliveries channels={channels} />
  return (
    <>
      <Tabs
        label="State"
        tabs={[
          { label: 'All', href: currentPageWith(visit, { state: null }), current: state === undefined, count: total },
          ...DELIVERY_STATES.map((name) => ({
            label: DELIVERY_STATE_LABELS[name],
            href: currentPageWith(visit, { state: name }),
            current: state === name,
            count: counts[name],
          })),
        ]}
      />
      <ChannelFilter channels={channels} channel={channel} visit={visit} />
      {data.deliveries.length === 0 ? (
        <Empty title="No matching notifications">
          <a href={href(visit, '/notifications', { environment: null })}>Show all notifications</a>
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

function ChannelFilter({
  channels,
  channel,
  visit,
}: Omit<DeliveryLogProps, 'data'> & { channels: readonly ChannelWithHealth[] }) {
  return (
    <ul class="chips delivery-filter" aria-label="Channel">
      {[undefined, ...channels.map(({ name }) => name)].map((name) => (
        <li>
          <a
            class="chip"
            href={currentPageWith(visit, { channel: name })}
            aria-current={name === channel ? 'true' : undefined}
          >
            {name === undefined ? 'All channels' : channelLabel(name)}
          </a>
        </li>
      ))}
    </ul>
  )
}

const CHAT_CONFIGURATION = `Tracker.configure({
  enable_chat_notifications: true,
  chat_webhook_url: 'https://hooks.slack.com/services/…',
  dashboard_base_url: 'https://shop.example', // for links in notifications
})`

function NoDeliveries({ channels }: { channels: readonly ChannelWithHealth[] }) {
  if (channels.some(({ state }) => state === 'on' || state === 'degraded')) {
    return (
      <Empty title="No notifications yet">
        New and regressed errors appear here. To check a channel, send a test above.
      </Empty>
    )
  }
  return (
    <Empty title="No notification channel configured" code={CHAT_CONFIGURATION}>
      Configure a channel to get notified of new and regressed errors. For chat:
    </Empty>
  )
}
