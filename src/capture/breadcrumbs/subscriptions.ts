import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { guarded } from '../guarded.js'
import type { Reporter } from '../sources/source.js'

/** Listeners by channel name. */
export type Listeners = Record<string, (message: never) => void>

/** Subscribes to channels of `node:diagnostics_channel`. Returns the function that unsubscribes. */
export function subscribeAll({ context: { counters } }: Reporter, listeners: Listeners): () => void {
  const subscriptions = Object.entries(listeners).map(([channel, listener]) => ({
    channel,
    onMessage: guarded(counters, channel, (message: unknown) => listener(message as never)),
  }))
  for (const { channel, onMessage } of subscriptions) subscribe(channel, onMessage)
  return () => {
    for (const { channel, onMessage } of subscriptions) unsubscribe(channel, onMessage)
  }
}
