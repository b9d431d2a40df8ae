import type { Severity } from '../../model/severity/severity.js'

/** Content of a notification as plain data. Stored with the delivery and identical for every channel. */
export type Notice = ErrorNotice | BaselineNotice | HeldNotice | DigestNotice | AssignedNotice | TestNotice

export const NOTICE_EVENTS = [
  'new',
  'reopened',
  'milestone',
  'resolved',
  'baseline',
  'held',
  'digest',
  'assigned',
  'test',
] as const
export type NoticeEvent = (typeof NOTICE_EVENTS)[number]

/** Events whose messages have their own recipients or layout. */
export const EMAIL_ONLY_EVENTS: readonly NoticeEvent[] = ['digest', 'assigned']

interface NoticeSource {
  event: NoticeEvent
  application_name: string
  environment: string | null
  /** Time of the change that caused the notification. */
  at: number
}

/** Sent when an error is new, regresses, reaches a milestone or is resolved. */
export interface ErrorNotice extends NoticeSource {
  event: 'new' | 'reopened' | 'milestone' | 'resolved'
  severity: Severity
  error: NoticeError
  /** Milestone that was reached. The count may be higher by now. */
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
  /** Release in which the error regressed, if newer than the release that resolved it. */
  regressed_in_version: string | null
}

/** Sent when an error type exceeds its baseline. */
export interface BaselineNotice extends NoticeSource {
  event: 'baseline'
  severity: Severity
  application_id: number
  error_type: string
  /** Start of the compared hour. Absent from notices of earlier versions, which compared the current hour. */
  hour_started_at?: number
  platforms: readonly {
    platform: string
    /** Occurrences within the hour; a lower bound while the hour is in progress. */
    count: number
    mean: number
    std_dev: number
    /** Null for a baseline without any occurrence. */
    deviations: number | null
  }[]
}

/** Summary of notifications that were held by quiet hours or `notification_max_per_hour`. */
export interface HeldNotice extends NoticeSource {
  event: 'held'
  reason: 'quiet_hours' | 'hourly_limit'
  severity: Severity
  total: number
  /** Most severe first, limited to the number of notifications that a message can list. */
  notices: readonly (ErrorNotice | BaselineNotice)[]
}

/** Daily or weekly email. */
export interface DigestNotice extends NoticeSource {
  event: 'digest'
  severity: Severity
  digest: Digest
  /** All configured recipients, if missing. */
  recipients?: readonly string[]
}

export interface Digest {
  frequency: 'daily' | 'weekly'
  from: number
  to: number
  /** Each figure with its value in the previous period. */
  figures: Record<'occurrences' | 'new_errors' | 'regressed_errors' | 'resolved_errors', DigestFigure>
  new_errors: readonly DigestError[]
  regressed_errors: readonly DigestError[]
  top_errors: readonly DigestError[]
  resolved_errors: readonly DigestError[]
  /** Open errors that are assigned to the only recipient, newest first. */
  assigned_errors?: AssignedErrors
}

export interface AssignedErrors {
  total: number
  /** Limited to the number of errors that a digest lists. */
  errors: readonly DigestError[]
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

/** Sent to a person to whom another person or a program assigned errors. */
export interface AssignedNotice extends NoticeSource {
  event: 'assigned'
  severity: Severity
  assigned_by: string
  recipient: { name: string; email: string }
  total: number
  /** All errors, because an error that is not listed can be assigned again. */
  error_ids: readonly number[]
  /** Most severe first, limited to the number of errors that a message can list. */
  errors: readonly AssignedError[]
}

export interface AssignedError extends Pick<ErrorNotice, 'application_name' | 'environment' | 'severity' | 'error'> {}

/** Verifies that a channel works. */
export interface TestNotice extends NoticeSource {
  event: 'test'
  severity: Severity
  requested_by: string
}
