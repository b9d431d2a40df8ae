import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { guarded } from '../guarded.js'
import type { Reporter } from '../sources/source.js'

/** What to do with what is published on which channel. */
export type Listeners = Record<string, (message: never) => void>

/** Listens on channels of `node:diagnostics_channel`; gives the function that ends it. */
export function listenOn({ context: { counters } }: Reporter, listeners: Listeners): () => void {
  const subscriptions = Object.entries(listeners).map(([channel, listener]) => ({
    channel,
    onMessage: guarded(counters, channel, (message: unknown) => listener(message as never)),
  }))
  for (const { channel, onMessage } of subscriptions) subscribe(channel, onMessage)
  return () => {
    for (const { channel, onMessage } of subscriptions) unsubscribe(channel, onMessage)
  }
}
