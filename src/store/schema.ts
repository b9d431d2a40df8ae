import type { ClientSource } from '../model/event.js'
import type { Severity } from '../model/severity.js'
import type { Status } from '../model/workflow.js'
import type { Generated } from './kysely.js'

/** The tables, as the migrations leave them. Times are epoch milliseconds in UTC; booleans are 0 and 1. */
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
  /** Path at which its dashboard was last seen, for the links in messages. */
  dashboard_path: string | null
}

/** One row per group: what lists show and filter by. Everything wide lives with the occurrences. */
export interface ErrorsTable {
  id: Generated<number>
  application_id: number
  hash_signature: string
  error_type: string
  /** Of the newest occurrence that is kept. */
  message: string
  /** The message the error began with; null for errors that an older version recorded since the migration. */
  first_message: string | null
  /** The endpoint that received it from a client; null for errors of the server itself. */
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
  /** How many users met it; empty while nobody is known. */
  user_count: number | null
  first_seen_at: number
  occurred_at: number
  /** Of the newest occurrence with a row, from which `message` and `place` are; null if an older version recorded the error. */
  shown_at: number | null
  snoozed_until: number | null
  snooze_reason: string | null
  resolved_at: number | null
  resolved_by_name: string | null
  resolution_comment: string | null
  resolution_reference: string | null
  reopened_at: number | null
  /** The newest release of the application when it was resolved. */
  resolved_in_version: string | null
  /** The newer release in which it came back after that. */
  regressed_in_version: string | null
  /** Set while no messages are sent about it; `muted_until` is null for as long as nobody ends it. */
  muted_at: number | null
  muted_until: number | null
  muted_by_name: string | null
  mute_reason: string | null
}

/** Message and backtrace that a group began with, in lower case, for `search`. */
export interface ErrorSearchTable {
  error_id: number
  search_text: string
}

/** Later messages and backtraces of a group, in lower case: the newest of each kind, so that no group grows forever. */
export interface SearchHistoryTable {
  id: Generated<number>
  error_id: number
  kind: 'message' | 'backtrace'
  digest: string
  search_text: string
}

/** A distinct backtrace with its causes, kept once however many occurrences share it. */
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
  /** Only where it differs from `first_message` of the group. */
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

/** Occurrences per group, hour and dimension: exact for ever, however few occurrence rows are kept. */
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

/** The same by days of UTC. */
export interface ApplicationDaysTable {
  application_id: number
  day: number
  severity: Severity
  platform: string
  app_version: string
  count: number
}

/** Occurrences of all errors of a type, by the hour and by days of UTC. */
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

/** How often an error occurred in a version, and the hours of its first and last occurrence there. */
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

/** The batches that were written: a batch that is tried again after an unclear end is not counted twice. */
export interface BatchesTable {
  batch_id: string
  created_at: number
}

/** The events that clients numbered themselves, by the batch that counted them: what is sent again counts once. */
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
  /** Of two jobs under one key there is one. */
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

/** What was sent to whom, or is to be: the truth about it, whichever engine carries the job. */
export interface DeliveriesTable {
  id: Generated<number>
  idempotency_key: string
  /** When it may be sent next. */
  run_at: number | null
  /** When a job for it was handed to the engine; null when one is still to be. */
  queued_at: number | null
  /** Until then the process that is sending it has it for itself. */
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

/** What is not to happen again before a time. */
export interface CooldownsTable {
  name: string
  until: number
}

/** Which process runs a schedule, and when it last ran. */
export interface LeasesTable {
  name: string
  holder: string | null
  expires_at: number
  last_run_at: number | null
}

/** What was raised and what was caught and never reported, per place and hour. */
export interface SwallowedExceptionsTable {
  application_id: number
  hour: number
  /** Of type, raise and rescue location together: they are longer than a key may be. */
  location_digest: string
  error_type: string
  raise_location: string
  /** Empty in the row that counts what was raised, wherever it was caught. */
  rescue_location: string
  handler_kind: string
  raise_count: number
  rescue_count: number
  /** Empty where it was written before this was counted. */
  reported_count: number | null
  /** Empty where only the hour is known. */
  last_seen_at: number | null
}

export interface DiagnosticDumpsTable {
  id: Generated<number>
  application_id: number
  note: string | null
  content: string
  created_at: number
}

/** A process that reports here, by what tells it from every other. */
export interface ProcessesTable {
  id: Generated<number>
  process_key: string
  application_id: number
  hostname: string
  pid: number
  node_version: string
  app_version: string | null
  started_at: number
  /** The newest row of it. */
  last_minute: number
}

/** How a process was doing in a minute. */
export interface ProcessMinutesTable {
  process_id: number
  minute: number
  rss_bytes: number
  heap_used_bytes: number
  heap_limit_bytes: number
  handles: number
  /** How many it recorded. */
  errors: number
  delay_p50_ms: number | null
  delay_p99_ms: number | null
  delay_max_ms: number | null
  utilisation: number
  cpu: number
  gc_ms: number
}

/** Events of rate limiters, per hour and all that is known of them. */
export interface RequestGuardHoursTable {
  application_id: number
  hour: number
  event_digest: string
  kind: string
  rule: string
  ip_address: string
  path: string
  count: number
  /** Empty where it was counted before this was. */
  last_seen_at: number | null
}

/** Statements that one request or job ran again and again, per hour, route and place that they were called from. */
export interface RepeatedStatementHoursTable {
  application_id: number
  hour: number
  statement_digest: string
  /** Without values. */
  statement: string
  route: string
  place: string
  request_count: number
  statement_count: number
  /** Of the request that ran it most often. */
  worst_count: number
  duration_ms: number
  last_seen_at: number
}

/** What is deprecated, per hour, place and version of the application. */
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

/** The source map of a script of one release. What is packed is compressed, in Base64: every database takes text. */
export interface SourceMapsTable {
  id: Generated<number>
  application_id: number
  release_name: string
  /** As a stack names it: an address, or the end of one. */
  file_name: string
  /** SHA-256 of release and name, which together are longer than a key may be. */
  file_digest: string
  debug_id: string | null
  /** The folder of the map, from the project's root. */
  folder: string
  packed_map: string
  /** The script itself, for the names of its functions; null where it was not given. */
  packed_code: string | null
  /** The application's own sources, for the lines around a frame; null where none were to be kept. */
  packed_sources: string | null
  map_bytes: number
  packed_bytes: number
  created_at: number
}

/** A query of the list under a name. */
export interface SavedViewsTable {
  id: Generated<number>
  name: string
  query: string
  created_by: string
  created_at: number
}

/** What an error is compared by, as numbers: see model/similarity.ts. */
export interface ErrorFeaturesTable {
  error_id: number
  feature: number
}

/** When a release was first seen. */
export interface ReleasesTable {
  application_id: number
  /** The versions of an app for telephones say nothing about those of its server. */
  platform: string
  /** Its name with the commit: see model/releases.ts. */
  version: string
  first_seen_at: number
}

/** How much of a budget is used in a period, in all processes together. */
export interface BudgetUsageTable {
  application_id: number
  budget: string
  /** Start of the hour or UTC day. */
  period: number
  amount: number
  /** Set when the period was summarized; later usage belongs to the next period. */
  closed_at: number | null
}

/** What budgets rejected, per hour. */
export interface RejectionHoursTable {
  application_id: number
  hour: number
  budget_digest: string
  budget: string
  count: number
  first_seen_at: number
  last_seen_at: number
}

/** What is usual for a type of error on a platform. */
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

/** An error that another one follows. */
export interface CascadesTable {
  id: Generated<number>
  parent_error_id: number
  child_error_id: number
  parent_count: number
  followed_count: number
  probability: number
  /** Null in rows that an earlier version wrote. */
  expected_probability: number | null
  average_delay_ms: number
  first_detected_at: number
  last_detected_at: number
}

/** How often a child followed a parent, by the hour of the parent. */
export interface CascadeHoursTable {
  hour: number
  parent_error_id: number
  child_error_id: number
  followed_count: number
  delay_ms: number
}

/** How many occurrences were looked at as parents. */
export interface CascadeParentsTable {
  hour: number
  error_id: number
  count: number
  /** Milliseconds of the hour that an occurrence follows within a minute; null for hours counted before 0.5. */
  covered_ms: number | null
}
