import type * as v from 'valibot'
import type { Options } from '../../config/options.js'
import { TrackerError } from '../../model/errors.js'
import * as r from '../../model/result.js'
import type { Channel } from '../channels/channel.js'
import { CHANNEL_NAMES, CHANNELS, type ChannelName } from '../channels/channels.js'
import { isHeldInQuietHours } from '../rules/quiet-hours.js'

/** State of a channel as shown by the dashboard and the CLI. Contains no secrets. */
export const ChannelState = r.object({
  name: r.oneOf(CHANNEL_NAMES),
  /** `incomplete` means enabled, but not sending because required options are missing. */
  state: r.oneOf(['on', 'incomplete', 'off']),
  /** Options required before the channel can send. */
  missing: r.list(r.text),
  /** Destination; null while the channel is not configured. */
  target: r.nullable(r.text),
  /** Lowest severity that is sent. */
  min_severity: r.severity,
  held_in_quiet_hours: r.boolean,
})
export type ChannelState = v.InferOutput<typeof ChannelState>

/** States of all channels, including disabled channels. */
export function channelStates(config: Options): ChannelState[] {
  return Object.values(CHANNELS).map((channel) => channelState(channel, config))
}

/** Returns a channel that can send. Throws an error that lists the missing options otherwise. */
export function requireChannel(name: ChannelName, config: Options): Channel<ChannelName> {
  const channel = CHANNELS[name]
  const { state, missing } = channelState(channel, config)
  if (state === 'on') return channel
  throw new TrackerError('switched_off', `Channel ${name} is not configured. Set ${formatList(missing)}.`)
}

/** Formats options as `a, b and c`. */
export function formatList(options: readonly string[]): string {
  const last = options.at(-1) ?? ''
  return options.length < 2 ? last : `${options.slice(0, -1).join(', ')} and ${last}`
}

function channelState(channel: Channel<ChannelName>, config: Options): ChannelState {
  const { name } = channel
  const missing = channel.missingOptions(config)
  return {
    name,
    state: missing === null ? 'off' : missing.length > 0 ? 'incomplete' : 'on',
    missing: missing ? [...missing] : [channel.enablingOption, ...missingWhenEnabled(channel, config)],
    target: missing?.length === 0 ? channel.target(config) : null,
    min_severity: config.severity_thresholds[name] ?? 'low',
    held_in_quiet_hours: config.quiet_hours !== null && isHeldInQuietHours(name),
  }
}

/** Options still missing after the channel is enabled. */
function missingWhenEnabled(channel: Channel, config: Options): readonly string[] {
  return channel.missingOptions({ ...config, [channel.enablingOption]: true }) ?? []
}
