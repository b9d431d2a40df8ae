import type { Options } from '../../config/options.js'
import type { Links } from '../content/links.js'
import type { Notice } from '../content/notice.js'

export type ChannelName = 'chat' | 'community_chat' | 'email' | 'incident' | 'webhook'

/** A way to reach people. A new one is a file in channels/ and a row in channels.ts. */
export interface Channel {
  readonly name: ChannelName
  /** The options that have to be set, and are not: empty when messages go out. Null: it is not wanted at all. */
  missing(config: Options): readonly string[] | null
  /** Where messages go, for people: never the whole address, which is a secret. */
  target(config: Options): string
  /** Which events it carries beside the ordinary ones: not every channel wants a mail's digest or a resolution. */
  carries(event: Notice['event']): boolean
  /** Tries once. What it throws counts as a passing failure. */
  send(message: Message, sending: Sending): Promise<Outcome>
}

export interface Message {
  /** The same however often it is tried, so that a receiver can tell a repeat. */
  key: string
  notice: Notice
}

export interface Sending {
  config: Options
  links: Links
  now(): number
  signal: AbortSignal
  /** How long a try may take, where the usual bounds will not do. */
  limits?: Limits
}

export interface Limits {
  connect_ms: number
  /** From the first step to the last. */
  total_ms: number
}

/** What became of one try; `answer` is for the delivery log, bounded and without secrets. */
export type Outcome =
  | { state: 'sent'; answer: string }
  /** Trying again will not help. */
  | { state: 'refused'; answer: string }
  /** It may go better later; `after_ms` as the receiver asked for it. */
  | { state: 'failed'; answer: string; after_ms?: number; rate_limited?: boolean }
