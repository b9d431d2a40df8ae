import type { Options } from '../../config/options.js'
import type { Channel, ChannelName } from './channel.js'
import { chat } from './chat.js'
import { communityChat } from './community-chat.js'
import { email } from './email.js'
import { incident } from './incident.js'
import { webhook } from './webhook.js'

/** THE TABLE of channels. */
export const CHANNELS: Readonly<Record<ChannelName, Channel>> = {
  chat,
  community_chat: communityChat,
  email,
  incident,
  webhook,
}

/** Those by which messages go out. */
export function activeChannels(config: Options): Channel[] {
  return Object.values(CHANNELS).filter((channel) => channel.missing(config)?.length === 0)
}
