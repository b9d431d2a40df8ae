import type * as v from 'valibot'
import { type Cause, CLIENT_SOURCES } from '../../model/event.js'
import * as r from '../../model/result.js'
import { isoTime } from '../../model/time.js'
import { isMuted, isSnoozed } from '../../model/workflow.js'
import type { Selectable } from '../../store/kysely.js'
import type { ErrorsTable } from '../../store/schema.js'

/** Error as shown in lists. Times are ISO 8601 in UTC. */
export const ErrorSummary = r.object({
  id: r.integer,
  application_id: r.integer,
  application_name: r.text,
  environment: r.text,
  error_type: r.text,
  message: r.text,
  /** Endpoint that received the error from a client (`reporting` or `sentry`). Null for server errors. */
  source: r.nullable(r.oneOf(CLIENT_SOURCES)),
  place: r.nullable(r.text),
  severity: r.severity,
  status: r.status,
  resolved: r.boolean,
  priority_level: r.integer,
  assigned_to: r.nullable(r.text),
  snoozed: r.boolean,
  snoozed_until: r.nullable(r.time),
  snooze_reason: r.nullable(r.text),
  /** True if notifications are muted. */
  muted: r.boolean,
  muted_at: r.nullable(r.time),
  /** Null while the error is muted indefinitely. */
  muted_until: r.nullable(r.time),
  muted_by_name: r.nullable(r.text),
  mute_reason: r.nullable(r.text),
  platform: r.text,
  app_version: r.nullable(r.text),
  first_app_version: r.nullable(r.text),
  git_sha: r.nullable(r.text),
  user_id: r.nullable(r.text),
  occurrence_count: r.integer,
  user_count: r.integer,
  first_seen_at: r.time,
  occurred_at: r.time,
  resolved_at: r.nullable(r.time),
  resolved_by_name: r.nullable(r.text),
  resolution_comment: r.nullable(r.text),
  resolution_reference: r.nullable(r.text),
  reopened_at: r.nullable(r.time),
  /** Newest release of the application when the error was resolved. */
  resolved_in_version: r.nullable(r.text),
  /** Newer release in which the error regressed after it was resolved. */
  regressed_in_version: r.nullable(r.text),
  hash_signature: r.text,
})
export type ErrorSummary = v.InferOutput<typeof ErrorSummary>

export const Comment = r.object({
  id: r.integer,
  author_name: r.text,
  body: r.text,
  created_at: r.time,
})
export type Comment = v.InferOutput<typeof Comment>

export const Activity = r.object({
  id: r.integer,
  actor: r.text,
  action: r.text,
  from_value: r.nullable(r.text),
  to_value: r.nullable(r.text),
  comment: r.nullable(r.text),
  created_at: r.time,
})
export type Activity = v.InferOutput<typeof Activity>

export const OccurrenceBreadcrumb = r.object({
  occurred_at: r.time,
  category: r.text,
  message: r.text,
  duration_ms: r.optional(r.number),
  metadata: r.optional(r.anyObject),
})
export type OccurrenceBreadcrumb = v.InferOutput<typeof OccurrenceBreadcrumb>

/** Data captured with one occurrence. */
export const CapturedData = r.object({
  request_url: r.nullable(r.text),
  request_params: r.anyValue,
  ip_address: r.nullable(r.text),
  user_agent: r.nullable(r.text),
  /** Method, route, headers, content type and duration of the request. */
  request: r.nullable(r.anyObject),
  tags: r.anyObject,
  /** Context that the host set or passed with the error. */
  context: r.anyObject,
  /** Breadcrumbs before the error, oldest first. */
  breadcrumbs: r.list(OccurrenceBreadcrumb),
  /** System error code and errno, process, and the hook that captured the error. */
  details: r.anyObject,
})
export type CapturedData = v.InferOutput<typeof CapturedData>

export const Occurrence = r.named(
  'Occurrence',
  r.object({
    ...CapturedData.entries,
    id: r.integer,
    occurred_at: r.time,
    message: r.text,
    platform: r.text,
    app_version: r.nullable(r.text),
    git_sha: r.nullable(r.text),
    user_id: r.nullable(r.text),
  }),
)
export type Occurrence = v.InferOutput<typeof Occurrence>

/** Selected occurrence and its neighbors in time. */
export const SelectedOccurrence = r.object({
  ...Occurrence.entries,
  /** Next older occurrence. */
  previous_id: r.nullable(r.integer),
  /** Next newer occurrence. */
  next_id: r.nullable(r.integer),
  /** 1 is the newest. Null if there are too many occurrences to count. */
  position: r.nullable(r.integer),
})
export type SelectedOccurrence = v.InferOutput<typeof SelectedOccurrence>

/** Error with an equal signature in another environment. */
export const EnvironmentSibling = r.object({
  id: r.integer,
  environment: r.text,
  status: r.text,
  occurrence_count: r.integer,
})
export type EnvironmentSibling = v.InferOutput<typeof EnvironmentSibling>

/**
 * Error with its newest or selected occurrence. `message`, `place`, `backtrace`, `causes`,
 * `platform`, `app_version`, `git_sha`, `user_id` and the captured data describe that occurrence. The other fields
 * describe the error.
 */
export const ErrorRecord = r.object({
  ...ErrorSummary.entries,
  ...CapturedData.entries,
  /** Errors with the same signature in other environments of the application. */
  other_environments: r.list(EnvironmentSibling),
  /** Version of the newest occurrence. `first_app_version` is the version of the oldest occurrence. */
  last_app_version: r.nullable(r.text),
  backtrace: r.list(r.text),
  causes: r.list(r.opaqueObject<Cause>()),
  comments: r.list(Comment),
  activities: r.list(Activity),
  /** Null when no occurrence is stored. */
  occurrence: r.nullable(SelectedOccurrence),
  /**
   * Page of the stored occurrences, newest first. `occurrence_count` includes occurrences that are no longer stored.
   */
  occurrences: r.list(Occurrence),
  occurrences_pagination: r.Pagination,
})
export interface ErrorRecord extends v.InferOutput<typeof ErrorRecord> {
  /** Location used in the signature; not part of the JSON. Null for occurrences recorded by older versions. */
  signature_place: readonly string[] | null
}

export function toSummary(
  row: Selectable<ErrorsTable>,
  extra: { application_name: string; user_count: number; now: number },
): ErrorSummary {
  return {
    id: row.id,
    application_id: row.application_id,
    application_name: extra.application_name,
    environment: row.environment,
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
