import type { ChannelState } from '../../../notifications/delivery/channel-states.js'
import type { Delivery } from '../../../notifications/delivery/deliveries.js'

/** How messages, their states and the ways they go are called on pages. */
export const CHANNEL_WORDS: Readonly<Record<ChannelState['name'], string>> = {
  chat: 'Chat',
  community_chat: 'Community chat',
  email: 'E-mail',
  incident: 'Incident',
  webhook: 'Webhook',
}

export const STATE_WORDS: Readonly<Record<Delivery['state'], string>> = {
  pending: 'Waiting',
  sending: 'Sending',
  sent: 'Sent',
  failed: 'Failed',
  held: 'Held',
  over_limit: 'Over limit',
  combined: 'Combined',
}

export const EVENT_WORDS: Readonly<Record<Delivery['event'], string>> = {
  new: 'New error',
  reopened: 'Came back',
  milestone: 'Milestone',
  resolved: 'Resolved',
  baseline: 'Above its baseline',
  held: 'Summary',
  digest: 'Digest',
  test: 'Test',
}

export function channelWord(name: string): string {
  return CHANNEL_WORDS[name as ChannelState['name']] ?? name
}
