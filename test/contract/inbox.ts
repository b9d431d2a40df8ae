import type { IncomingHttpHeaders } from 'node:http'
import type { Settings } from '../../src/options.js'

/** How a receiver responds. */
export type InboxBehavior = 'accept' | 'busy' | 'broken' | 'refuse' | 'hang' | 'half' | 'redirect' | 'echo'

/** A local server that receives the messages of a channel. */
export interface Inbox {
  /** Settings that make the channel send to this server. */
  settings: Settings
  /** Values of the settings that must not appear in logs. */
  secrets: readonly string[]
  messages: ReceivedMessage[]
  behavior: InboxBehavior
  /** Resolves when a client has connected. */
  connected(): Promise<void>
  close(): Promise<void>
}

export interface ReceivedMessage {
  /** Idempotency key. */
  key: string
  headers: IncomingHttpHeaders | Readonly<Record<string, string>>
  /** Message as received. */
  raw: string
  /** All text of the message, decoded. */
  text: string
}
