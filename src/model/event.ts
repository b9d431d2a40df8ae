import type { Severity } from './severity.js'

/** Endpoints that accept errors from other processes. An error without a source was captured by the server itself. */
export const CLIENT_SOURCES = ['reporting', 'sentry'] as const
export type ClientSource = (typeof CLIENT_SOURCES)[number]

/** An error behind another: its cause, or one of several that an AggregateError gathered. */
export interface Cause {
  error_type: string
  message: string
  backtrace: readonly string[]
  relation: 'cause' | 'aggregated' | 'suppressed'
  code?: string | undefined
  causes?: readonly Cause[] | undefined
}

/** One occurrence as plain, bounded, redacted data: what is buffered, spooled and written. No live object of the host. */
export interface ErrorEvent {
  hash_signature: string
  error_type: string
  message: string
  severity: Severity
  /** `src/cart.ts:12 in total`: the newest frame in the host's own code. */
  place: string | null
  /** The place as it is part of the signature. Absent in events of older versions. */
  signature_place?: readonly string[] | undefined
  backtrace: readonly string[]
  causes: readonly Cause[]
  platform: string
  app_version: string | null
  git_sha: string | null
  user_id: string | null
  request_url: string | null
  ip_address: string | null
  user_agent: string | null
  /** Everything that is only shown, never searched: request_params, environment, code, details ... */
  context: Readonly<Record<string, unknown>>
  occurred_at: number
  /** The endpoint that received it; absent for errors of the server itself. */
  source?: ClientSource
  /** What a client numbered it by: one that is sent again counts once. */
  event_digest?: string
  /** One of a storm: it is in every sum, but has no row of its own. */
  counted_only?: true
}
