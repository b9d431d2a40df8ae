import type { Severity } from './severity/severity.js'

/** Endpoints that accept errors from other processes. An error without a source was captured by the server itself. */
export const CLIENT_SOURCES = ['reporting', 'sentry'] as const
export type ClientSource = (typeof CLIENT_SOURCES)[number]

/** An error that led to another error: its cause, or a member of an AggregateError. */
export interface Cause {
  error_type: string
  message: string
  backtrace: readonly string[]
  relation: 'cause' | 'aggregated' | 'suppressed'
  code?: string | undefined
  causes?: readonly Cause[] | undefined
}

/** Further causes are not stored. The total is limited too, because nested aggregates multiply. */
export const MAX_CAUSES = { depth: 5, aggregated: 10, total: 20 } as const

/**
 * One occurrence as plain, bounded, redacted data. It is buffered, spooled and written, and contains no live object of
 * the host.
 */
export interface ErrorEvent {
  hash_signature: string
  environment: string
  error_type: string
  message: string
  severity: Severity
  /** `src/cart.ts:12 in total`: the newest frame in the host's own code. */
  place: string | null
  /** The location as used in the signature. Absent from events of older versions. */
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
  /** Data that is displayed but never searched: request_params, code, details ... */
  context: Readonly<Record<string, unknown>>
  occurred_at: number
  /** Endpoint that received the event; absent for errors of the server itself. */
  source?: ClientSource
  /** Digest of the client's event id, for deduplication. */
  event_digest?: string
  /** Part of a storm: included in all counts, but without its own row. */
  counted_only?: true
}
