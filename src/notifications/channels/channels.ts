import type { Options } from '../../config/options.js'
import type { Channel, ChannelName } from './channel.js'
import { chat } from './chat.js'
import { communityChat } from './community-chat.js'
import { email } from './email.js'
import { incident } from './incident.js'
import { webhook } from './webhook.js'

/** All notification channels. */
export const CHANNELS: Readonly<Record<ChannelName, Channel>> = {
  chat,
  community_chat: communityChat,
  email,
  incident,
  webhook,
}

/** Channels that are enabled and completely configured. */
export function activeChannels(config: Options): Channel[] {
  return Object.values(CHANNELS).filter((channel) => channel.missingOptions(config)?.length === 0)
}
