import type { Cause, ClientSource } from '../../model/event.js'
import type { Severity } from '../../model/severity/severity.js'
import { isoTime } from '../../model/time.js'
import { isMuted, isSnoozed, type Status } from '../../model/workflow.js'
import type { Selectable } from '../../store/kysely.js'
import type { ErrorsTable } from '../../store/schema.js'

/** Error as shown in lists. Times are ISO 8601 in UTC. */
export interface ErrorSummary {
  id: number
  application_id: number
  application_name: string
  error_type: string
  message: string
  /** Endpoint that received the error from a client (`reporting` or `sentry`). Null for server errors. */
  source: ClientSource | null
  place: string | null
  severity: Severity
  status: Status
  resolved: boolean
  priority_level: number
  assigned_to: string | null
  snoozed: boolean
  snoozed_until: string | null
  snooze_reason: string | null
  /** Whether notifications are muted. */
  muted: boolean
  muted_at: string | null
  /** Null while the error is muted indefinitely. */
  muted_until: string | null
  muted_by_name: string | null
  mute_reason: string | null
  platform: string
  app_version: string | null
  first_app_version: string | null
  git_sha: string | null
  user_id: string | null
  occurrence_count: number
  user_count: number
  first_seen_at: string
  occurred_at: string
  resolved_at: string | null
  resolved_by_name: string | null
  resolution_comment: string | null
  resolution_reference: string | null
  reopened_at: string | null
  /** Newest release of the application when the error was resolved. */
  resolved_in_version: string | null
  /** Newer release in which the error regressed after it was resolved. */
  regressed_in_version: string | null
  hash_signature: string
}

export interface Comment {
  id: number
  author_name: string
  body: string
  created_at: string
}

export interface Activity {
  id: number
  actor: string
  action: string
  from_value: string | null
  to_value: string | null
  comment: string | null
  created_at: string
}

/** Data captured with one occurrence. */
export interface CapturedData {
  request_url: string | null
  request_params: unknown
  ip_address: string | null
  user_agent: string | null
  /** Method, route, headers, content type and duration of the request. */
  request: Record<string, unknown> | null
  tags: Record<string, unknown>
  /** Context that the host set or passed with the error. */
  context: Record<string, unknown>
  /** Breadcrumbs before the error, oldest first. */
  breadcrumbs: OccurrenceBreadcrumb[]
  /** System error code and errno, environment, process, and the hook that captured the error. */
  details: Record<string, unknown>
}

export interface OccurrenceBreadcrumb {
  occurred_at: string
  category: string
  message: string
  duration_ms?: number
  metadata?: Record<string, unknown>
}

export interface Occurrence extends CapturedData {
  id: number
  occurred_at: string
  message: string
  platform: string
  app_version: string | null
  git_sha: string | null
  user_id: string | null
}

/** Selected occurrence and its neighbors in time. */
export interface SelectedOccurrence extends Occurrence {
  /** Next older occurrence. */
  previous_id: number | null
  /** Next newer occurrence. */
  next_id: number | null
  /** 1 is the newest; null when there are too many to count. */
  position: number | null
}

/**
 * Error with one of its occurrences: the newest or the selected one. `message`, `place`, `backtrace`, `causes`,
 * `platform`, `app_version`, `git_sha`, `user_id` and the captured data describe that occurrence. The other fields
 * describe the error.
 */
export interface ErrorRecord extends ErrorSummary, CapturedData {
  /** Version of the newest occurrence; `first_app_version` is that of the oldest. */
  last_app_version: string | null
  backtrace: readonly string[]
  causes: readonly Cause[]
  /** Location as used in the signature. Null for occurrences recorded by older versions. */
  signature_place: readonly string[] | null
  comments: Comment[]
  activities: Activity[]
  /** Null when no occurrence is stored. */
  occurrence: SelectedOccurrence | null
  /** Page of the stored occurrences, newest first. */
  occurrences: Occurrence[]
  occurrences_pagination: OccurrencesPagination
}

export interface OccurrencesPagination {
  page: number
  per_page: number
  /** Number of stored occurrences; `occurrence_count` counts all. */
  total_count: number
  total_pages: number
  /** True when `total_count` is a lower bound. */
  total_is_lower_bound?: true
}

export function toSummary(
  row: Selectable<ErrorsTable>,
  extra: { application_name: string; user_count: number; now: number },
): ErrorSummary {
  return {
    id: row.id,
    application_id: row.application_id,
    application_name: extra.application_name,
    error_type: row.error_type,
    message: row.message,
    source: row.source,
    place: row.place,
    severity: row.severity,
    status: row.status,
    resolved: row.resolved === 1,
    priority_level: row.priority_level,
    assigned_to: row.assigned_to,
    snoozed: isSnoozed(row.snoozed_until, extra.now),
    snoozed_until: isoTime(row.snoozed_until),
    snooze_reason: row.snooze_reason,
    muted: isMuted(row, extra.now),
    muted_at: isoTime(row.muted_at),
    muted_until: isoTime(row.muted_until),
    muted_by_name: row.muted_by_name,
    mute_reason: row.mute_reason,
    platform: row.platform,
    app_version: row.app_version,
    first_app_version: row.first_app_version,
    git_sha: row.git_sha,
    user_id: row.user_id,
    occurrence_count: row.occurrence_count,
    user_count: extra.user_count,
    first_seen_at: new Date(row.first_seen_at).toISOString(),
    occurred_at: new Date(row.occurred_at).toISOString(),
    resolved_at: isoTime(row.resolved_at),
    resolved_by_name: row.resolved_by_name,
    resolution_comment: row.resolution_comment,
    resolution_reference: row.resolution_reference,
    reopened_at: isoTime(row.reopened_at),
    resolved_in_version: row.resolved_in_version,
    regressed_in_version: row.regressed_in_version,
    hash_signature: row.hash_signature,
  }
}
