import type { OptionName, Options } from '../../config/options.js'
import type { Links } from '../content/dashboard-links.js'
import type { Notice } from '../content/notice.js'

/** A notification channel. CONTRIBUTING.md lists the steps to add a channel. */
export interface Channel<Name extends string = string> {
  readonly name: Name
  /** Name on the dashboard. */
  readonly label: string
  /** Option that enables the channel. */
  readonly enablingOption: OptionName
  /** Names of required options that are not set; empty when the channel can send. Null when the channel is disabled. */
  missingOptions(config: Options): readonly string[] | null
  /** Destination shown to users. Never the full URL, because webhook URLs are secrets. */
  target(config: Options): string
  /**
   * Returns true if the channel sends notices of this kind. A channel that supports `resolved` keeps an incident open
   * until then, so that a regression is sent despite its cooldown.
   */
  supports(event: Notice['event']): boolean
  /**
   * True if the channel pages people. Quiet hours do not hold its messages, and errors of clients are sent only with
   * `enable_client_paging`.
   */
  readonly pagesOnCall?: true
  /** Returns true if the channel can send assignments, which have their own recipient. They need no `missingOptions`. */
  canSendAssignments?(config: Options): boolean
  /** Makes one attempt. A thrown error counts as a temporary failure. */
  send(message: Message, sendContext: SendContext): Promise<Outcome>
}

/** Defines a channel. The type of its name derives from `name`. */
export function defineChannel<Name extends string>(channel: Channel<Name>): Channel<Name> {
  return channel
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
