import { CHANNELS, type ChannelName } from '../../../notifications/channels/channels.js'
import type { Delivery } from '../../../notifications/delivery/deliveries.js'

export const DELIVERY_STATE_LABELS: Readonly<Record<Delivery['state'], string>> = {
  pending: 'Waiting',
  retrying: 'Retrying',
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
  assigned: 'Assignment',
  test: 'Test',
}

/** Label of a channel. Accepts unknown names, because a row can contain a channel from a newer version. */
export function channelLabel(name: string): string {
  return CHANNELS[name as ChannelName]?.label ?? name
}
