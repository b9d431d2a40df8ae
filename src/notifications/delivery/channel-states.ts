import type { OptionName, Options } from '../../config/options.js'
import { TrackerError } from '../../model/errors.js'
import type { Severity } from '../../model/severity.js'
import type { Channel, ChannelName } from '../channels/channel.js'
import { CHANNELS } from '../channels/channels.js'
import { isEverHeld } from '../rules/quiet-hours.js'

/** A channel as the page and the command line show it; nothing of it is a secret. */
export interface ChannelState {
  name: ChannelName
  /** `incomplete`: it is wanted, and nothing is sent until what is missing is set. */
  state: 'on' | 'incomplete' | 'off'
  /** The options to set before messages go out. */
  missing: readonly string[]
  /** Where messages go; null while it is not known. */
  target: string | null
  /** Errors of this severity and graver are told. */
  least_severity: Severity
  held_in_quiet_hours: boolean
}

/** The option that says that a channel is wanted. */
const SWITCHES: Readonly<Record<ChannelName, OptionName>> = {
  chat: 'enable_chat_notifications',
  community_chat: 'community_chat_webhook_url',
  email: 'enable_email_notifications',
  incident: 'incident_integration_key',
  webhook: 'webhook_url',
}

/** Every channel there is, whether it is on or not. */
export function channelStates(config: Options): ChannelState[] {
  return Object.values(CHANNELS).map((channel) => stateOf(channel, config))
}

/** A channel that messages go out by; throws with what to set where it is none. */
export function requireChannel(name: ChannelName, config: Options): Channel {
  const channel = CHANNELS[name]
  const { state, missing } = stateOf(channel, config)
  if (state === 'on') return channel
  throw new TrackerError('switched_off', `No message can be sent by ${name}: set ${listed(missing)}.`)
}

/** Options in a sentence: `a, b and c`. */
export function listed(options: readonly string[]): string {
  const last = options.at(-1) ?? ''
  return options.length < 2 ? last : `${options.slice(0, -1).join(', ')} and ${last}`
}

function stateOf(channel: Channel, config: Options): ChannelState {
  const { name } = channel
  const missing = channel.missing(config)
  return {
    name,
    state: missing === null ? 'off' : missing.length > 0 ? 'incomplete' : 'on',
    missing: missing ?? [SWITCHES[name], ...whatElse(channel, config)],
    target: missing?.length === 0 ? channel.target(config) : null,
    least_severity: config.severity_thresholds[name] ?? 'low',
    held_in_quiet_hours: config.quiet_hours !== null && isEverHeld(name),
  }
}

/** What would still be missing once it is switched on. */
function whatElse(channel: Channel, config: Options): readonly string[] {
  return channel.missing({ ...config, [SWITCHES[channel.name]]: true }) ?? []
}
