import type { ChannelState } from '../../../notifications/delivery/channel-states.js'
import type { Delivery } from '../../../notifications/delivery/deliveries.js'

export const CHANNEL_LABELS: Readonly<Record<ChannelState['name'], string>> = {
  chat: 'Chat',
  community_chat: 'Community chat',
  email: 'Email',
  incident: 'Incident',
  webhook: 'Webhook',
}

export const DELIVERY_STATE_LABELS: Readonly<Record<Delivery['state'], string>> = {
  pending: 'Waiting',
  sending: 'Sending',
  sent: 'Sent',
  failed: 'Failed',
  held: 'Paused',
  over_limit: 'Over limit',
  combined: 'Combined',
}

export const EVENT_LABELS: Readonly<Record<Delivery['event'], string>> = {
  new: 'New error',
  reopened: 'Regressed',
  milestone: 'Milestone',
  resolved: 'Resolved',
  baseline: 'Spike',
  held: 'Quiet-hours summary',
  digest: 'Digest',
  test: 'Test',
}

export function channelLabel(name: string): string {
  return CHANNEL_LABELS[name as ChannelState['name']] ?? name
}
