import type { ClientSource } from '../model/event.js'
import type { Severity } from '../model/severity/severity.js'
import type { Status } from '../model/workflow.js'
import type { Generated } from './kysely.js'

/** Tables after all migrations. Times are epoch milliseconds in UTC. Booleans are 0 and 1. */
export interface Schema {
  faultboard_applications: ApplicationsTable
  faultboard_errors: ErrorsTable
  faultboard_error_search: ErrorSearchTable
  faultboard_search_history: SearchHistoryTable
  faultboard_payloads: PayloadsTable
  faultboard_occurrences: OccurrencesTable
  faultboard_error_hours: ErrorHoursTable
  faultboard_application_hours: ApplicationHoursTable
  faultboard_application_days: ApplicationDaysTable
  faultboard_type_hours: TypeHoursTable
  faultboard_type_days: TypeDaysTable
  faultboard_error_versions: ErrorVersionsTable
  faultboard_error_users: ErrorUsersTable
  faultboard_batches: BatchesTable
  faultboard_reported_events: ReportedEventsTable
  faultboard_comments: CommentsTable
  faultboard_activities: ActivitiesTable
  faultboard_leases: LeasesTable
  faultboard_error_features: ErrorFeaturesTable
  faultboard_releases: ReleasesTable
  faultboard_client_releases: ReleasesTable
  faultboard_budget_usage: BudgetUsageTable
  faultboard_rejection_hours: RejectionHoursTable
  faultboard_baselines: BaselinesTable
  faultboard_cascades: CascadesTable
  faultboard_cascade_hours: CascadeHoursTable
  faultboard_cascade_parents: CascadeParentsTable
  faultboard_jobs: JobsTable
  faultboard_deliveries: DeliveriesTable
  faultboard_cooldowns: CooldownsTable
  faultboard_saved_views: SavedViewsTable
  faultboard_swallowed_exceptions: SwallowedExceptionsTable
  faultboard_diagnostic_dumps: DiagnosticDumpsTable
  faultboard_processes: ProcessesTable
  faultboard_process_minutes: ProcessMinutesTable
  faultboard_request_guard_hours: RequestGuardHoursTable
  faultboard_repeated_statement_hours: RepeatedStatementHoursTable
  faultboard_deprecation_hours: DeprecationHoursTable
  faultboard_source_maps: SourceMapsTable
}

export interface ApplicationsTable {
  id: Generated<number>
  name: string
  created_at: number
  /** Path at which the dashboard was last requested, for links in notifications. */
  dashboard_path: string | null
}

/** One row per group, with the columns that lists show and filter. Wide columns are in the occurrences. */
export interface ErrorsTable {
  id: Generated<number>
  application_id: number
  hash_signature: string
  error_type: string
  /** Message of the newest occurrence with a row. */
  message: string
  /** First message of the error. Null for errors that an older version recorded after the migration. */
  first_message: string | null
  /** Endpoint that received the error from a client. Null for errors of the server. */
  source: ClientSource | null
  place: string | null
  severity: Severity
  status: Status
  resolved: number
  priority_level: number
  assigned_to: string | null
  platform: string
  app_version: string | null
  first_app_version: string | null
  git_sha: string | null
  user_id: string | null
  occurrence_count: number
  /** Number of affected users. Null without known users. */
  user_count: number | null
  first_seen_at: number
  occurred_at: number
  /** Time of the newest occurrence with a row. Null if an older version recorded the error. */
  shown_at: number | null
  snoozed_until: number | null
  snooze_reason: string | null
  resolved_at: number | null
  resolved_by_name: string | null
  resolution_comment: string | null
  resolution_reference: string | null
  reopened_at: number | null
  /** Newest release of the application at the time of resolution. */
  resolved_in_version: string | null
  /** Newer release in which the error regressed. */
  regressed_in_version: string | null
  /** Set while notifications are muted. `muted_until` is null for a mute without an end. */
  muted_at: number | null
  muted_until: number | null
  muted_by_name: string | null
  mute_reason: string | null
}

/** First message and backtrace of a group, in lower case, for `search`. */
export interface ErrorSearchTable {
  error_id: number
  search_text: string
}

/** Later messages and backtraces of a group, in lower case. Limited to the newest of each kind. */
export interface SearchHistoryTable {
  id: Generated<number>
  error_id: number
  kind: 'message' | 'backtrace'
  digest: string
  search_text: string
}

/** Distinct backtrace with its causes, shared by all occurrences that have it. */
export interface PayloadsTable {
  id: Generated<number>
  error_id: number
  digest: string
  content: string
}

export interface OccurrencesTable {
  id: Generated<number>
  error_id: number
  payload_id: number
  occurred_at: number
  /** Null if it equals `first_message` of the group. */
  message: string | null
  platform: string
  app_version: string | null
  git_sha: string | null
  user_id: string | null
  request_url: string | null
  ip_address: string | null
  user_agent: string | null
  context: string | null
}

/** Occurrences by group, hour and dimension. Exact, regardless of how many occurrence rows are kept. */
export interface ErrorHoursTable {
  error_id: number
  hour: number
  severity: Severity
  platform: string
  app_version: string
  count: number
}

export interface ApplicationHoursTable {
  application_id: number
  hour: number
  severity: Severity
  platform: string
  app_version: string
  count: number
}

/** Occurrences by application, UTC day and dimension. */
export interface ApplicationDaysTable {
  application_id: number
  day: number
  severity: Severity
  platform: string
  app_version: string
  count: number
}

/** Occurrences of all errors of a type, by hour and by UTC day. */
export interface TypeHoursTable {
  application_id: number
  error_type: string
  hour: number
  count: number
}

export interface TypeDaysTable {
  application_id: number
  day: number
  error_type: string
  count: number
}

/** Occurrences of an error in a version, with the hours of the first and last occurrence. */
export interface ErrorVersionsTable {
  application_id: number
  app_version: string
  error_id: number
  count: number
  first_hour: number
  last_hour: number
}

export interface ErrorUsersTable {
  error_id: number
  user_id: string
  count: number
  first_seen_at: number
  last_seen_at: number
}

/** Ids of committed batches, so that a retry after an unknown result is not counted twice. */
export interface BatchesTable {
  batch_id: string
  created_at: number
}

/** Events with an id from their client, by the batch that counted them. Prevents counting a resent event twice. */
export interface ReportedEventsTable {
  application_id: number
  event_digest: string
  batch_id: string
  created_at: number
}

export interface CommentsTable {
  id: Generated<number>
  error_id: number
  author_name: string
  body: string
  created_at: number
}

export interface ActivitiesTable {
  id: Generated<number>
  error_id: number
  actor: string
  action: string
  from_value: string | null
  to_value: string | null
  comment: string | null
  created_at: number
}

export interface JobsTable {
  id: Generated<number>
  name: string
  /** Deduplication key. A key has at most one job. */
  job_key: string | null
  payload: string
  state: string
  run_at: number
  attempts: number
  max_attempts: number
  locked_by: string | null
  locked_until: number | null
  last_error: string | null
  created_at: number
  finished_at: number | null
}

/** Deliveries of notifications, sent and pending. Authoritative for every job engine. */
export interface DeliveriesTable {
  id: Generated<number>
  idempotency_key: string
  /** Earliest time of the next attempt. */
  run_at: number | null
  /** Time when its job was enqueued. Null if that is still pending. */
  queued_at: number | null
  /** End of the lease of the sending process. */
  locked_until: number | null
  channel: string
  event: string
  error_id: number | null
  application_id: number | null
  state: string
  attempts: number
  payload: string
  last_answer: string | null
  created_at: number
  finished_at: number | null
}

/** Actions that must not repeat before a time. */
export interface CooldownsTable {
  name: string
  until: number
}

/** Leases and last runs of schedules. */
export interface LeasesTable {
  name: string
  holder: string | null
  expires_at: number
  last_run_at: number | null
}

/** Exceptions that were raised, caught and not reported, by place and hour. */
export interface SwallowedExceptionsTable {
  application_id: number
  hour: number
  /** Digest of type, raise location and rescue location, which together exceed the key limit. */
  location_digest: string
  error_type: string
  raise_location: string
  /** Empty in the row that counts all exceptions of a raise location. */
  rescue_location: string
  handler_kind: string
  raise_count: number
  rescue_count: number
  /** Empty in rows of earlier versions. */
  reported_count: number | null
  /** Null if only the hour is known. */
  last_seen_at: number | null
}

export interface DiagnosticDumpsTable {
  id: Generated<number>
  application_id: number
  note: string | null
  content: string
  created_at: number
}

/** Processes of the application. */
export interface ProcessesTable {
  id: Generated<number>
  process_key: string
  application_id: number
  hostname: string
  pid: number
  node_version: string
  app_version: string | null
  started_at: number
  /** Minute of the newest row. */
  last_minute: number
}

/** Health of a process, by minute. */
export interface ProcessMinutesTable {
  process_id: number
  minute: number
  rss_bytes: number
  heap_used_bytes: number
  heap_limit_bytes: number
  handles: number
  /** Number of recorded errors. */
  errors: number
  delay_p50_ms: number | null
  delay_p99_ms: number | null
  delay_max_ms: number | null
  utilisation: number
  cpu: number
  gc_ms: number
}

/** Events of rate limiters, by hour and details. */
export interface RequestGuardHoursTable {
  application_id: number
  hour: number
  event_digest: string
  kind: string
  rule: string
  ip_address: string
  path: string
  count: number
  /** Null in rows of earlier versions. */
  last_seen_at: number | null
}

/** Statements repeated within one request or job, by hour, route and calling code. */
export interface RepeatedStatementHoursTable {
  application_id: number
  hour: number
  statement_digest: string
  /** SQL without values. */
  statement: string
  route: string
  place: string
  request_count: number
  statement_count: number
  /** Highest count in a single request. */
  worst_count: number
  duration_ms: number
  last_seen_at: number
}

/** Deprecation warnings, by hour, place and application version. */
export interface DeprecationHoursTable {
  application_id: number
  hour: number
  warning_digest: string
  code: string
  message: string
  place: string
  app_version: string
  count: number
  first_seen_at: number
  last_seen_at: number
}

/** Source map of a script of one release. Packed columns contain compressed text in Base64. */
export interface SourceMapsTable {
  id: Generated<number>
  application_id: number
  release_name: string
  /** Name in stack traces: a URL, or the end of one. */
  file_name: string
  /** SHA-256 of release and name, which together exceed the key limit. */
  file_digest: string
  debug_id: string | null
  /** Folder of the map, relative to the project root. */
  folder: string
  packed_map: string
  /** Script, for its function names. Null if it was not uploaded. */
  packed_code: string | null
  /** Sources of the application, for the lines around a frame. Null if they were not uploaded. */
  packed_sources: string | null
  map_bytes: number
  packed_bytes: number
  created_at: number
}

/** Named queries of the error list. */
export interface SavedViewsTable {
  id: Generated<number>
  name: string
  query: string
  created_by: string
  created_at: number
}

/** Similarity features of errors, see model/grouping/similarity.ts. */
export interface ErrorFeaturesTable {
  error_id: number
  feature: number
}

/** First sighting of each release. */
export interface ReleasesTable {
  application_id: number
  /** Part of the key, because the versions of a mobile app are unrelated to those of its server. */
  platform: string
  /** Release name with the commit, see model/releases.ts. */
  version: string
  first_seen_at: number
}

/** Used amount of a budget by period, across all processes. */
export interface BudgetUsageTable {
  application_id: number
  budget: string
  /** Start of the hour or UTC day. */
  period: number
  amount: number
  /** Set when the period was summarized. Later usage belongs to the next period. */
  closed_at: number | null
}

/** Errors rejected by budgets, by hour. */
export interface RejectionHoursTable {
  application_id: number
  hour: number
  budget_digest: string
  budget: string
  count: number
  first_seen_at: number
  last_seen_at: number
}

/** Baselines by error type and platform. */
export interface BaselinesTable {
  id: Generated<number>
  application_id: number
  error_type: string
  platform: string
  granularity: string
  mean: number
  std_dev: number
  sample_count: number
  occurrence_count: number
  calculated_at: number
}

/** Pairs of errors in which the child follows the parent. */
export interface CascadesTable {
  id: Generated<number>
  parent_error_id: number
  child_error_id: number
  parent_count: number
  followed_count: number
  probability: number
  /** Null in rows of earlier versions. */
  expected_probability: number | null
  average_delay_ms: number
  first_detected_at: number
  last_detected_at: number
}

/** Number of times a child followed a parent, by the hour of the parent. */
export interface CascadeHoursTable {
  hour: number
  parent_error_id: number
  child_error_id: number
  followed_count: number
  delay_ms: number
}

/** Number of occurrences that were examined as parents, by hour. */
export interface CascadeParentsTable {
  hour: number
  error_id: number
  count: number
  /** Milliseconds of the hour within one minute after an occurrence. Null for hours before version 0.5. */
  covered_ms: number | null
}
