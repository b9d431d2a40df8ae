import type { OptionName, Options } from '../../config/options.js'
import type { Links } from '../content/dashboard-links.js'
import type { Notice } from '../content/notice.js'

export const CHANNEL_NAMES = ['chat', 'community_chat', 'email', 'incident', 'webhook'] as const
export type ChannelName = (typeof CHANNEL_NAMES)[number]

/** A notification channel. CONTRIBUTING.md lists the steps to add a channel. */
export interface Channel {
  readonly name: ChannelName
  /** Name on the dashboard. */
  readonly label: string
  /** Option that enables the channel. */
  readonly enablingOption: OptionName
  /** Names of required options that are not set; empty when the channel can send. Null when the channel is disabled. */
  missingOptions(config: Options): readonly string[] | null
  /** Destination shown to users. Never the full URL, because webhook URLs are secrets. */
  target(config: Options): string
  /** Returns true if the channel sends notices of this kind. */
  supports(event: Notice['event']): boolean
  /** Makes one attempt. A thrown error counts as a temporary failure. */
  send(message: Message, sendContext: SendContext): Promise<Outcome>
}

export interface Message {
  /** Idempotency key. Identical for every attempt, so that the receiver can detect duplicates. */
  key: string
  notice: Notice
}

export interface SendContext {
  config: Options
  links: Links
  now(): number
  signal: AbortSignal
  /** Overrides the default timeouts of the channel. */
  timeouts?: Timeouts
}

export interface Timeouts {
  connect_ms: number
  /** Covers the whole attempt, including the connection. */
  total_ms: number
}

/** Result of one attempt. `response` goes into the delivery log: limited in length and free of secrets. */
export type Outcome =
  | { state: 'sent'; response: string }
  /** Permanent failure; not retried. */
  | { state: 'refused'; response: string }
  /** Temporary failure; retried. `after_ms` is the delay that the receiver requested. */
  | { state: 'failed'; response: string; after_ms?: number; rate_limited?: boolean }
