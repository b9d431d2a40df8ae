import type { ClientSource } from '../model/event.js'
import type { AuditAction, AuditKind } from '../model/people/audit.js'
import type { Role } from '../model/people/identity.js'
import type { Severity } from '../model/severity/severity.js'
import type { Status } from '../model/workflow.js'
import { defineTable, fraction, id, integer, nullable, type Row, type Table, text, textOf } from './define-table.js'

const RELEASE_COLUMNS = {
  application_id: integer,
  /** Part of the key, because the versions of a mobile app are unrelated to those of its server. */
  platform: text,
  /** Release name with the commit, see model/releases.ts. */
  version: text,
  environment: text,
  first_seen_at: integer,
}

/**
 * Tables after all migrations, in the order of their references. Row types, integer columns, bulk inserts and the move
 * to another database derive from this definition. Times are epoch milliseconds in UTC. Booleans are 0 and 1.
 */
export const TABLES = {
  faultboard_applications: defineTable({
    columns: {
      id,
      name: text,
      created_at: integer,
      /** Path at which the dashboard was last requested, for links in notifications. */
      dashboard_path: nullable(text),
    },
    key: ['id'],
    isDisposable: true,
  }),
  /** One row per group, with the columns that lists show and filter. Wide columns are in the occurrences. */
  faultboard_errors: defineTable({
    columns: {
      id,
      application_id: integer,
      environment: text,
      hash_signature: text,
      error_type: text,
      /** Message of the newest occurrence with a row. */
      message: text,
      /** First message of the error. Null for errors that an older version recorded after the migration. */
      first_message: nullable(text),
      /** Endpoint that received the error from a client. Null for errors of the server. */
      source: nullable(textOf<ClientSource>()),
      place: nullable(text),
      severity: textOf<Severity>(),
      status: textOf<Status>(),
      resolved: integer,
      priority_level: integer,
      assigned_to: nullable(text),
      platform: text,
      app_version: nullable(text),
      first_app_version: nullable(text),
      git_sha: nullable(text),
      user_id: nullable(text),
      occurrence_count: integer,
      /** Number of affected users. Null without known users. */
      user_count: nullable(integer),
      first_seen_at: integer,
      occurred_at: integer,
      /** Time of the newest occurrence with a row. Null if an older version recorded the error. */
      shown_at: nullable(integer),
      snoozed_until: nullable(integer),
      snooze_reason: nullable(text),
      resolved_at: nullable(integer),
      resolved_by_name: nullable(text),
      resolution_comment: nullable(text),
      resolution_reference: nullable(text),
      reopened_at: nullable(integer),
      /** Newest release of the application at the time of resolution. */
      resolved_in_version: nullable(text),
      /** Newer release in which the error regressed. */
      regressed_in_version: nullable(text),
      /** Set while notifications are muted. `muted_until` is null for an indefinite mute. */
      muted_at: nullable(integer),
      muted_until: nullable(integer),
      muted_by_name: nullable(text),
      mute_reason: nullable(text),
    },
    key: ['id'],
    sum: 'occurrence_count',
    batchSize: 200,
  }),
  /** First message and backtrace of a group, in lower case, for `search`. */
  faultboard_error_search: defineTable({
    columns: { error_id: integer, search_text: text },
    key: ['error_id'],
    batchSize: 100,
  }),
  /**
   * Later messages and backtraces of a group, limited to the newest of each kind. URLs and tags of its occurrences,
   * limited to the first of each kind. In lower case.
   */
  faultboard_search_history: defineTable({
    columns: {
      id,
      error_id: integer,
      kind: textOf<'message' | 'backtrace' | 'url' | 'tag'>(),
      digest: text,
      search_text: text,
    },
    key: ['id'],
    batchSize: 100,
  }),
  /** Distinct backtrace with its causes, shared by all occurrences that have it. */
  faultboard_payloads: defineTable({
    columns: { id, error_id: integer, digest: text, content: text },
    key: ['id'],
    batchSize: 100,
  }),
  faultboard_occurrences: defineTable({
    columns: {
      id,
      error_id: integer,
      payload_id: integer,
      occurred_at: integer,
      /** Null if it equals `first_message` of the group. */
      message: nullable(text),
      platform: text,
      app_version: nullable(text),
      git_sha: nullable(text),
      user_id: nullable(text),
      request_url: nullable(text),
      ip_address: nullable(text),
      user_agent: nullable(text),
      context: nullable(text),
    },
    key: ['id'],
    batchSize: 100,
  }),
  /** Occurrences by group, hour and dimension. Exact, regardless of how many occurrence rows are kept. */
  faultboard_error_hours: defineTable({
    columns: {
      error_id: integer,
      hour: integer,
      severity: textOf<Severity>(),
      platform: text,
      app_version: text,
      count: integer,
    },
    key: ['error_id', 'hour', 'severity', 'platform', 'app_version'],
    sum: 'count',
  }),
  faultboard_application_hours: defineTable({
    columns: {
      application_id: integer,
      hour: integer,
      severity: textOf<Severity>(),
      platform: text,
      app_version: text,
      environment: text,
      count: integer,
    },
    key: ['application_id', 'hour', 'severity', 'platform', 'app_version', 'environment'],
    sum: 'count',
  }),
  /** Occurrences by application, UTC day and dimension. */
  faultboard_application_days: defineTable({
    columns: {
      application_id: integer,
      day: integer,
      severity: textOf<Severity>(),
      platform: text,
      app_version: text,
      environment: text,
      count: integer,
    },
    key: ['application_id', 'day', 'severity', 'platform', 'app_version', 'environment'],
    sum: 'count',
  }),
  /** Occurrences of all errors of a type, by hour and by UTC day. */
  faultboard_type_hours: defineTable({
    columns: { application_id: integer, error_type: text, hour: integer, environment: text, count: integer },
    key: ['application_id', 'error_type', 'hour', 'environment'],
    sum: 'count',
  }),
  faultboard_type_days: defineTable({
    columns: { application_id: integer, day: integer, error_type: text, environment: text, count: integer },
    key: ['application_id', 'day', 'error_type', 'environment'],
    sum: 'count',
  }),
  /** Occurrences of an error in a version, with the hours of the first and last occurrence. */
  faultboard_error_versions: defineTable({
    columns: {
      application_id: integer,
      app_version: text,
      error_id: integer,
      count: integer,
      first_hour: integer,
      last_hour: integer,
    },
    key: ['application_id', 'app_version', 'error_id'],
    sum: 'count',
  }),
  faultboard_error_users: defineTable({
    columns: { error_id: integer, user_id: text, count: integer, first_seen_at: integer, last_seen_at: integer },
    key: ['error_id', 'user_id'],
    sum: 'count',
  }),
  /** Every platform and commit on which an error occurred. */
  faultboard_error_origins: defineTable({
    columns: { error_id: integer, kind: textOf<'platform' | 'commit'>(), value: text },
    key: ['error_id', 'kind', 'value'],
  }),
  /** Tags of the occurrences of an error, for filters. In lower case, limited to the first values of each key. */
  faultboard_error_tags: defineTable({
    columns: { error_id: integer, tag_key: text, tag_value: text },
    key: ['error_id', 'tag_key', 'tag_value'],
  }),
  /** Similarity features of errors, see model/grouping/similarity.ts. */
  faultboard_error_features: defineTable({
    columns: { error_id: integer, feature: integer },
    key: ['error_id', 'feature'],
  }),
  faultboard_comments: defineTable({
    columns: { id, error_id: integer, author_name: text, body: text, created_at: integer },
    key: ['id'],
    batchSize: 200,
  }),
  faultboard_activities: defineTable({
    columns: {
      id,
      error_id: integer,
      actor: text,
      action: text,
      from_value: nullable(text),
      to_value: nullable(text),
      comment: nullable(text),
      created_at: integer,
    },
    key: ['id'],
    batchSize: 200,
  }),
  /** Time when each release was first seen. */
  faultboard_releases: defineTable({
    columns: RELEASE_COLUMNS,
    key: ['application_id', 'platform', 'version', 'environment'],
  }),
  /** Time when each release that clients report was first seen. */
  faultboard_client_releases: defineTable({
    columns: RELEASE_COLUMNS,
    key: ['application_id', 'platform', 'version', 'environment'],
  }),
  /** Used amount of a budget by period, across all processes. */
  faultboard_budget_usage: defineTable({
    columns: {
      application_id: integer,
      budget: text,
      /** Start of the hour or UTC day. */
      period: integer,
      amount: integer,
      /** Set when the period was summarized. Later usage belongs to the next period. */
      closed_at: nullable(integer),
    },
    key: ['application_id', 'budget', 'period'],
    sum: 'amount',
    isDisposable: true,
  }),
  /** Errors rejected by budgets, by hour. */
  faultboard_rejection_hours: defineTable({
    columns: {
      application_id: integer,
      hour: integer,
      budget_digest: text,
      budget: text,
      count: integer,
      first_seen_at: integer,
      last_seen_at: integer,
    },
    key: ['application_id', 'hour', 'budget_digest'],
    sum: 'count',
    isDisposable: true,
  }),
  /** Baselines by error type, platform and environment. */
  faultboard_baselines: defineTable({
    columns: {
      id,
      application_id: integer,
      error_type: text,
      platform: text,
      environment: text,
      granularity: text,
      mean: fraction,
      std_dev: fraction,
      sample_count: integer,
      occurrence_count: integer,
      calculated_at: integer,
    },
    key: ['id'],
    sum: 'occurrence_count',
    isDisposable: true,
  }),
  /** Pairs of errors in which the child follows the parent. */
  faultboard_cascades: defineTable({
    columns: {
      id,
      parent_error_id: integer,
      child_error_id: integer,
      parent_count: integer,
      followed_count: integer,
      probability: fraction,
      /** Null in rows of earlier versions. */
      expected_probability: nullable(fraction),
      average_delay_ms: integer,
      first_detected_at: integer,
      last_detected_at: integer,
    },
    key: ['id'],
    sum: 'followed_count',
  }),
  /** Number of times a child followed a parent, by the hour of the parent. */
  faultboard_cascade_hours: defineTable({
    columns: {
      hour: integer,
      parent_error_id: integer,
      child_error_id: integer,
      followed_count: integer,
      delay_ms: integer,
    },
    key: ['hour', 'parent_error_id', 'child_error_id'],
    sum: 'followed_count',
  }),
  /** Number of occurrences that were examined as parents, by hour. */
  faultboard_cascade_parents: defineTable({
    columns: {
      hour: integer,
      error_id: integer,
      count: integer,
      /** Milliseconds of the hour within one minute after an occurrence. Null for hours before version 0.5. */
      covered_ms: nullable(integer),
    },
    key: ['hour', 'error_id'],
    sum: 'count',
  }),
  /** Changes by people, programs and the tracker. Rows are only added, and deleted after `audit_retention_days`. */
  faultboard_audit_entries: defineTable({
    columns: {
      id,
      created_at: integer,
      actor: text,
      kind: textOf<AuditKind>(),
      /** Network address of the request. */
      address: nullable(text),
      action: textOf<AuditAction>(),
      error_id: nullable(integer),
      /** Changed record that is not an error. */
      target: nullable(text),
      /** Number of changed records of a bulk action. */
      count: nullable(integer),
      detail: nullable(text),
    },
    key: ['id'],
  }),
  /** Named queries of the error list. */
  faultboard_saved_views: defineTable({
    columns: { id, name: text, query: text, created_by: text, created_at: integer },
    key: ['id'],
  }),
  /** Tokens of programs, with the hash of each secret. Revoked tokens stay, so that their names are not used again. */
  faultboard_api_tokens: defineTable({
    columns: {
      id,
      name: text,
      role: textOf<Role>(),
      token_hash: text,
      created_at: integer,
      created_by: text,
      /** Null for a token that does not expire. */
      expires_at: nullable(integer),
      /** Written at most once a minute. */
      last_used_at: nullable(integer),
      revoked_at: nullable(integer),
    },
    key: ['id'],
  }),
  /** People who signed in, with the address of their latest sign-in. Limited in number. */
  faultboard_people: defineTable({
    columns: {
      name: text,
      /** Null for a person who receives no email. */
      email: nullable(text),
      /** Written at most once an hour by each process. */
      last_seen_at: integer,
    },
    key: ['name'],
    isDisposable: true,
  }),
  /** Source map of a script of one release. Packed columns contain compressed text in Base64. */
  faultboard_source_maps: defineTable({
    columns: {
      id,
      application_id: integer,
      release_name: text,
      /** Name in stack traces: a URL, or the end of one. */
      file_name: text,
      /** SHA-256 of release and name, which together exceed the key limit. */
      file_digest: text,
      debug_id: nullable(text),
      /** Folder of the map, relative to the project root. */
      folder: text,
      packed_map: text,
      /** Script, for its function names. Null if it was not uploaded. */
      packed_code: nullable(text),
      /** Sources of the application, for the lines around a frame. Null if they were not uploaded. */
      packed_sources: nullable(text),
      map_bytes: integer,
      packed_bytes: integer,
      created_at: integer,
    },
    key: ['id'],
    sum: 'packed_bytes',
    batchSize: 5,
  }),
  faultboard_diagnostic_dumps: defineTable({
    columns: {
      id,
      application_id: integer,
      environment: text,
      note: nullable(text),
      content: text,
      created_at: integer,
    },
    key: ['id'],
    batchSize: 10,
  }),
  /** Processes of the application. */
  faultboard_processes: defineTable({
    columns: {
      id,
      process_key: text,
      application_id: integer,
      environment: text,
      hostname: text,
      pid: integer,
      node_version: text,
      app_version: nullable(text),
      started_at: integer,
      /** Minute of the newest row. */
      last_minute: integer,
    },
    key: ['id'],
    isDisposable: true,
  }),
  /** Health of a process, by minute. */
  faultboard_process_minutes: defineTable({
    columns: {
      process_id: integer,
      minute: integer,
      rss_bytes: integer,
      heap_used_bytes: integer,
      heap_limit_bytes: integer,
      handles: integer,
      /** Number of recorded errors. */
      errors: integer,
      delay_p50_ms: nullable(fraction),
      delay_p99_ms: nullable(fraction),
      delay_max_ms: nullable(fraction),
      utilization: fraction,
      cpu: fraction,
      gc_ms: fraction,
    },
    key: ['process_id', 'minute'],
    sum: 'errors',
    isDisposable: true,
  }),
  /** Exceptions that were raised, caught and not reported, by code location and hour. */
  faultboard_swallowed_exceptions: defineTable({
    columns: {
      application_id: integer,
      environment: text,
      hour: integer,
      /** Digest of environment, type and locations, which together exceed the key limit. */
      location_digest: text,
      error_type: text,
      raise_location: text,
      /** Empty in the row that counts all exceptions of a raise location. */
      rescue_location: text,
      handler_kind: text,
      raise_count: integer,
      rescue_count: integer,
      /** Empty in rows of earlier versions. */
      reported_count: nullable(integer),
      /** Null if only the hour is known. */
      last_seen_at: nullable(integer),
    },
    key: ['application_id', 'hour', 'location_digest'],
    sum: 'raise_count',
  }),
  /** Events of rate limiters, by hour and details. */
  faultboard_request_guard_hours: defineTable({
    columns: {
      application_id: integer,
      environment: text,
      hour: integer,
      event_digest: text,
      kind: text,
      rule: text,
      ip_address: text,
      path: text,
      count: integer,
      /** Null in rows of earlier versions. */
      last_seen_at: nullable(integer),
    },
    key: ['application_id', 'hour', 'event_digest'],
    sum: 'count',
  }),
  /** Statements repeated within one request or job, by hour, route and calling code. */
  faultboard_repeated_statement_hours: defineTable({
    columns: {
      application_id: integer,
      environment: text,
      hour: integer,
      statement_digest: text,
      /** SQL without values. */
      statement: text,
      route: text,
      place: text,
      request_count: integer,
      statement_count: integer,
      /** Highest count in a single request. */
      worst_count: integer,
      duration_ms: integer,
      last_seen_at: integer,
    },
    key: ['application_id', 'hour', 'statement_digest'],
    sum: 'statement_count',
  }),
  /** Deprecation warnings, by hour, code location and application version. */
  faultboard_deprecation_hours: defineTable({
    columns: {
      application_id: integer,
      environment: text,
      hour: integer,
      warning_digest: text,
      code: text,
      message: text,
      place: text,
      app_version: text,
      count: integer,
      first_seen_at: integer,
      last_seen_at: integer,
    },
    key: ['application_id', 'hour', 'warning_digest'],
    sum: 'count',
  }),
  faultboard_jobs: defineTable({
    columns: {
      id,
      name: text,
      /** Deduplication key. A key has at most one job. */
      job_key: nullable(text),
      payload: text,
      state: text,
      run_at: integer,
      attempts: integer,
      max_attempts: integer,
      locked_by: nullable(text),
      locked_until: nullable(integer),
      last_error: nullable(text),
      created_at: integer,
      finished_at: nullable(integer),
    },
    key: ['id'],
    batchSize: 100,
    isDisposable: true,
  }),
  /** Deliveries of notifications, sent and pending: the queue of the dispatcher. */
  faultboard_deliveries: defineTable({
    columns: {
      id,
      idempotency_key: text,
      /** Earliest time of the next attempt. */
      run_at: nullable(integer),
      /** End of the lease of the sending process. */
      locked_until: nullable(integer),
      channel: text,
      event: text,
      error_id: nullable(integer),
      application_id: nullable(integer),
      state: text,
      attempts: integer,
      payload: text,
      last_response: nullable(text),
      created_at: integer,
      finished_at: nullable(integer),
      /** Time of the last counted attempt. */
      attempted_at: nullable(integer),
      /** Environment of the error or baseline. Null for messages about several environments, and for tests. */
      environment: nullable(text),
    },
    key: ['id'],
    batchSize: 100,
  }),
  /** Actions that must not repeat before a time. */
  faultboard_cooldowns: defineTable({ columns: { name: text, until: integer }, key: ['name'], isDisposable: true }),
  /** Ids of committed batches, so that a retry after an unknown result is not counted twice. */
  faultboard_batches: defineTable({
    columns: { batch_id: text, created_at: integer },
    key: ['batch_id'],
    isDisposable: true,
  }),
  /** Events with an id from their client, by the batch that counted them. Prevents counting a resent event twice. */
  faultboard_reported_events: defineTable({
    columns: { application_id: integer, event_digest: text, batch_id: text, created_at: integer },
    key: ['application_id', 'event_digest'],
  }),
  /** Leases and last runs of schedules. */
  faultboard_leases: defineTable({
    columns: { name: text, holder: nullable(text), expires_at: integer, last_run_at: nullable(integer) },
    key: ['name'],
    isDisposable: true,
  }),
}

export type Schema = { [Name in keyof typeof TABLES]: Row<(typeof TABLES)[Name]['columns']> }
export type TableName = keyof Schema
export type ColumnName<Name extends TableName> = keyof Schema[Name] & string
export const TABLE_NAMES = Object.keys(TABLES) as TableName[]

export function tableDefinition(name: TableName): Table {
  return TABLES[name]
}

export type ApiTokensTable = Schema['faultboard_api_tokens']
export type CascadesTable = Schema['faultboard_cascades']
export type DeliveriesTable = Schema['faultboard_deliveries']
export type DiagnosticDumpsTable = Schema['faultboard_diagnostic_dumps']
export type ErrorsTable = Schema['faultboard_errors']
export type OccurrencesTable = Schema['faultboard_occurrences']
export type ProcessMinutesTable = Schema['faultboard_process_minutes']
export type AuditEntriesTable = Schema['faultboard_audit_entries']
export type SavedViewsTable = Schema['faultboard_saved_views']
/** Stored instead of the values of a tag that exceed the limit. */
export const MORE_VALUES = ''

export type SearchHistoryTable = Schema['faultboard_search_history']
