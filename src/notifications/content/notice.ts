import type { Severity } from '../../model/severity.js'

/** What happened, as plain data: kept with the delivery until it is sent, and the same for every channel. */
export type Notice = ErrorNotice | BaselineNotice | HeldNotice | DigestNotice | TestNotice

export type NoticeEvent = Notice['event']

interface About {
  application_name: string
  environment: string | null
  /** When it happened. */
  at: number
}

/** An error is new, came back, reached a count, or was resolved. */
export interface ErrorNotice extends About {
  event: 'new' | 'reopened' | 'milestone' | 'resolved'
  severity: Severity
  error: NoticeError
  /** The count that was reached; by now it may be higher. */
  milestone?: number
}

export interface NoticeError {
  id: number
  application_id: number
  error_type: string
  message: string
  place: string | null
  platform: string
  app_version: string | null
  occurrence_count: number
  first_seen_at: number
  occurred_at: number
  hash_signature: string
  /** The release in which it came back, where that is newer than the one in which it was resolved. */
  regressed_in_version: string | null
}

/** A type of error comes more often than is usual for it. */
export interface BaselineNotice extends About {
  event: 'baseline'
  severity: Severity
  application_id: number
  error_type: string
  /** Start of the compared hour. Absent in notices that an earlier version wrote: those compared the running hour. */
  hour_started_at?: number
  platforms: readonly {
    platform: string
    /** Occurrences within the hour; a lower bound while the hour is running. */
    count: number
    usual: number
    std_dev: number
    /** Null for a baseline without any occurrence. */
    deviations: number | null
  }[]
}

/** One message for many that were held back, by quiet hours or by `notification_max_per_hour`. */
export interface HeldNotice extends About {
  event: 'held'
  reason: 'quiet_hours' | 'hourly_limit'
  severity: Severity
  total: number
  /** The gravest first, as many as a message can hold. */
  notices: readonly (ErrorNotice | BaselineNotice)[]
}

/** The daily or weekly mail. */
export interface DigestNotice extends About {
  event: 'digest'
  severity: Severity
  digest: Digest
}

export interface Digest {
  frequency: 'daily' | 'weekly'
  from: number
  to: number
  /** Each figure with that of the period before. */
  figures: Record<'occurrences' | 'new_errors' | 'regressed_errors' | 'resolved_errors', DigestFigure>
  new_errors: readonly DigestError[]
  regressed_errors: readonly DigestError[]
  top_errors: readonly DigestError[]
  resolved_errors: readonly DigestError[]
}

export interface DigestFigure {
  now: number
  before: number
}

export interface DigestError {
  id: number
  application_id: number
  application_name: string
  error_type: string
  message: string
  severity: Severity
  /** Occurrences in the period. */
  count: number
}

/** Somebody wants to know whether messages arrive. */
export interface TestNotice extends About {
  event: 'test'
  severity: Severity
  requested_by: string
}
