import type { Options } from '../../config/options.js'
import type { Channel } from './channel.js'
import { chat } from './chat.js'
import { communityChat } from './community-chat.js'
import { email } from './email.js'
import { incident } from './incident.js'
import { webhook } from './webhook.js'

/** List of all notification channels. Everything else about channels derives from it. */
const ALL_CHANNELS = [chat, communityChat, email, incident, webhook] as const

export type ChannelName = (typeof ALL_CHANNELS)[number]['name']
type ListedChannel = Channel<ChannelName>

export const CHANNEL_NAMES: readonly ChannelName[] = ALL_CHANNELS.map(({ name }) => name)

/** All notification channels by name. */
export const CHANNELS = Object.fromEntries(ALL_CHANNELS.map((channel) => [channel.name, channel])) as Readonly<
  Record<ChannelName, ListedChannel>
>

/** Channels whose receiver keeps an incident open until the error is resolved. */
export const INCIDENT_CHANNELS: readonly ChannelName[] = channelNames((channel) => channel.supports('resolved'))

/** Channels that are enabled and completely configured. */
export function activeChannels(config: Options): ListedChannel[] {
  return Object.values(CHANNELS).filter((channel) => channel.missingOptions(config)?.length === 0)
}

/** Channels that can send assignments, even if the channel is not complete. */
export function assignmentChannels(config: Options): ChannelName[] {
  return channelNames((channel) => channel.canSendAssignments?.(config) === true)
}

function channelNames(isIncluded: (channel: ListedChannel) => boolean): ChannelName[] {
  return Object.values(CHANNELS)
    .filter(isIncluded)
    .map(({ name }) => name)
}
