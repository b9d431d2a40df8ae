import type { ChannelState } from '../../../notifications/delivery/channel-states.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { ApplicationField } from '../../ui/forms.js'
import { CHANNEL_WORDS } from './labels.js'

const STATES: Readonly<Record<ChannelState['state'], string>> = { on: 'On', incomplete: 'Incomplete', off: 'Off' }

/** The ways by which people are told: which are on, where they lead, what the others lack. */
export function Channels({ channels, visit }: { channels: readonly ChannelState[]; visit: Visit }): Rendered {
  return (
    <section class="channels-section" aria-labelledby="channels-title">
      <h2 id="channels-title">Channels</h2>
      <ul class="channels">
        {channels.map((channel) => (
          <li class="channel">
            <h3>{CHANNEL_WORDS[channel.name]}</h3>
            <span class={`channel-state channel-${channel.state}`}>{STATES[channel.state]}</span>
            {channel.state === 'on' ? (
              <Facts channel={channel} visit={visit} />
            ) : (
              <Lack channel={channel} visit={visit} />
            )}
            {channel.state === 'on' && <TestButton channel={channel} visit={visit} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Facts({ channel, visit: { options } }: { channel: ChannelState; visit: Visit }) {
  const { target, least_severity, held_in_quiet_hours } = channel
  return (
    <p class="channel-facts">
      <bdi>{target}</bdi>
      <span class="muted">
        {least_severity === 'low'
          ? ' · every severity'
          : ` · ${least_severity}${least_severity === 'critical' ? ' only' : ' and graver'}`}
        {options.quiet_hours !== null && (held_in_quiet_hours ? ` · held ${options.quiet_hours}` : ' · never held')}
        {channel.name === 'email' && options.digest_frequency !== 'never' && ` · ${options.digest_frequency} digest`}
      </span>
    </p>
  )
}

function Lack({ channel: { state, missing }, visit }: { channel: ChannelState; visit: Visit }) {
  return (
    <p class={state === 'off' ? 'channel-facts muted' : 'channel-facts'}>
      {state === 'off' ? 'To turn it on, set ' : 'Nothing is sent before you set '}
      {missing.map((options, at) => (
        <>
          {at > 0 && (at === missing.length - 1 ? ' and ' : ', ')}
          {options.split(' or ').map((option, nth) => (
            <>
              {nth > 0 && ' or '}
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

function TestButton({ channel: { name }, visit }: { channel: ChannelState; visit: Visit }) {
  return (
    <form method="post" action={`${visit.base}/notifications/test`}>
      <ApplicationField visit={visit} />
      <button
        type="submit"
        name="channel"
        value={name}
        aria-label={`Send a test by ${CHANNEL_WORDS[name].toLowerCase()}`}
      >
        Send a test
      </button>
    </form>
  )
}
