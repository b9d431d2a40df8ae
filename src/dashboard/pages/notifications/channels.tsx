import { CHANNELS } from '../../../notifications/channels/channels.js'
import { allows } from '../../access.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { ApplicationField } from '../../ui/forms.js'
import type { ChannelWithHealth } from './channel-health.js'
import { channelLabel } from './labels.js'

const STATE_LABELS: Readonly<Record<ChannelWithHealth['state'], string>> = {
  on: 'On',
  degraded: 'Degraded',
  incomplete: 'Incomplete',
  off: 'Off',
}

/** Notification channels with their state and missing options. */
export function Channels({ channels, visit }: { channels: readonly ChannelWithHealth[]; visit: Visit }): Rendered {
  return (
    <section class="channels-section" aria-labelledby="channels-title">
      <h2 id="channels-title">Channels</h2>
      <ul class="channels">
        {channels.map((channel) => (
          <li class="channel">
            <h3>{channelLabel(channel.name)}</h3>
            <span class={`channel-state channel-${channel.state}`}>
              {channel.problem ?? STATE_LABELS[channel.state]}
            </span>
            {canSend(channel) ? (
              <Facts channel={channel} visit={visit} />
            ) : (
              <MissingOptions channel={channel} visit={visit} />
            )}
            {canSend(channel) && <TestButton channel={channel} visit={visit} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

function canSend({ state }: ChannelWithHealth): boolean {
  return state === 'on' || state === 'degraded'
}

function Facts({ channel, visit: { options } }: { channel: ChannelWithHealth; visit: Visit }) {
  const { target, min_severity, held_in_quiet_hours } = channel
  return (
    <p class="channel-facts">
      <bdi>{target}</bdi>
      <span class="muted">
        {min_severity === 'low'
          ? ' · all severities'
          : ` · ${min_severity}${min_severity === 'critical' ? ' only' : ' and above'}`}
        {options.quiet_hours !== null &&
          (held_in_quiet_hours ? ` · paused ${options.quiet_hours}` : ' · ignores quiet hours')}
        {CHANNELS[channel.name].supports('digest') &&
          options.digest_frequency !== 'never' &&
          ` · ${options.digest_frequency} digest`}
      </span>
    </p>
  )
}

function MissingOptions({ channel, visit }: { channel: ChannelWithHealth; visit: Visit }) {
  const { state, missing } = channel
  return (
    <p class={state === 'off' ? 'channel-facts muted' : 'channel-facts'}>
      {missingOptionsText(channel)}
      {missing.map((options, i) => (
        <>
          {i > 0 && (i === missing.length - 1 ? ' and ' : ', ')}
          {options.split(' or ').map((option, j) => (
            <>
              {j > 0 && ' or '}
              <a href={`${href(visit, '/settings')}#${option}`}>
                <code>{option}</code>
              </a>
            </>
          ))}
        </>
      ))}
    </p>
  )
}

function missingOptionsText({ state, missing }: ChannelWithHealth): string {
  if (state === 'off') return 'To enable, set '
  const hasOnlyAssignments = missing.join() === 'notification_email_recipients'
  return hasOnlyAssignments ? 'Only assignments are sent. For errors and digests, set ' : 'Incomplete: set '
}

function TestButton({ channel: { name }, visit }: { channel: ChannelWithHealth; visit: Visit }) {
  if (!allows(visit, 'admin')) return null
  return (
    <form method="post" action={`${visit.base}/notifications/test`}>
      <ApplicationField visit={visit} />
      <button type="submit" name="channel" value={name} aria-label={`Send test to ${channelLabel(name).toLowerCase()}`}>
        Send test
      </button>
    </form>
  )
}
