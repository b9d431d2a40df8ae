import type { Dialect } from '../dialect.js'
import { type CreatedColumn, type CreatedTable, createTable, type Migration } from './table.js'

/** Schema of the first release. */
export const initial: Migration = {
  async up(db, dialect) {
    for (const [name, table] of Object.entries(TABLES)) await createTable(db, dialect, name, table)
    await dialect.search.build(db, 'first')
    await dialect.search.build(db, 'history')
  },
}

const id: CreatedColumn = { type: 'id' }
const integer: CreatedColumn = { type: 'bigint' }
const fraction: CreatedColumn = { type: 'double precision' }
const longText: CreatedColumn = { type: 'longText' }

function varchar(length: number): CreatedColumn {
  return { type: `varchar(${length})` }
}

function hasValue(column: string): string {
  return `"${column}" is not null`
}

function isCovering({ hasCoveringIndexes }: Dialect): boolean {
  return hasCoveringIndexes
}

function primaryKey(column: CreatedColumn): CreatedColumn {
  return { ...column, isPrimaryKey: true }
}

function unique(column: CreatedColumn): CreatedColumn {
  return { ...column, isUnique: true }
}

function nullable(column: CreatedColumn): CreatedColumn {
  return { ...column, isNullable: true }
}

/** Errors, occurrences and the texts that `search` reads. */
const ERROR_TABLES: Record<string, CreatedTable> = {
  faultboard_applications: {
    columns: {
      id,
      name: unique(varchar(255)),
      created_at: integer,
      dashboard_path: nullable(varchar(255)),
    },
  },
  faultboard_errors: {
    columns: {
      id,
      application_id: integer,
      environment: varchar(64),
      hash_signature: varchar(64),
      error_type: varchar(255),
      message: longText,
      place: nullable(varchar(500)),
      severity: varchar(16),
      status: { ...varchar(16), default: 'new' },
      resolved: { type: 'smallint', default: 0 },
      priority_level: { type: 'smallint', default: 0 },
      assigned_to: nullable(varchar(255)),
      platform: varchar(64),
      app_version: nullable(varchar(128)),
      first_app_version: nullable(varchar(128)),
      git_sha: nullable(varchar(64)),
      user_id: nullable(varchar(255)),
      occurrence_count: integer,
      first_seen_at: integer,
      occurred_at: integer,
      snoozed_until: nullable(integer),
      snooze_reason: nullable(longText),
      resolved_at: nullable(integer),
      resolved_by_name: nullable(varchar(255)),
      resolution_comment: nullable(longText),
      resolution_reference: nullable(longText),
      reopened_at: nullable(integer),
      resolved_in_version: nullable(varchar(128)),
      regressed_in_version: nullable(varchar(128)),
      user_count: nullable(integer),
      muted_at: nullable(integer),
      muted_until: nullable(integer),
      muted_by_name: nullable(varchar(255)),
      mute_reason: { type: 'text', isNullable: true },
      first_message: nullable(longText),
      source: nullable(varchar(32)),
      shown_at: nullable(integer),
    },
    unique: { name: 'faultboard_errors_signature', columns: ['application_id', 'environment', 'hash_signature'] },
    // PostgreSQL updates every index of a row for each repeat, so it has only the indexes it needs.
    indexes: [
      // The id precedes the environment, because MySQL sorts all rows if an index lacks a part of the order of the list.
      { columns: ['occurred_at', 'id', 'environment'] },
      { columns: ['application_id', 'occurred_at', 'id', 'environment'] },
      { columns: ['first_seen_at', 'environment'] },
      { columns: ['assigned_to', 'application_id'], where: hasValue('assigned_to') },
      { columns: ['reopened_at'], where: hasValue('reopened_at') },
      { columns: ['resolved_at', 'first_seen_at', 'application_id'], where: hasValue('resolved_at') },
      {
        name: 'faultboard_errors_unattended',
        columns: ['severity', 'occurred_at', 'snoozed_until', 'application_id', 'environment'],
        where: `resolved = 0 and assigned_to is null and severity in ('critical', 'high')`,
        when: ({ hasPartialIndexes }) => hasPartialIndexes,
      },
      { columns: ['environment', 'resolved', 'severity'], when: ({ hasPartialIndexes }) => !hasPartialIndexes },
      { columns: ['status', 'snoozed_until', 'application_id', 'environment'] },
      // Covering indexes for the counts and filters of the list, because SQLite reads on the host's thread.
      { columns: ['platform', 'application_id', 'environment'], when: isCovering },
      { columns: ['first_app_version', 'application_id', 'environment'], when: isCovering },
      {
        columns: [
          ...['error_type', 'application_id', 'platform', 'resolved', 'severity'],
          ...['assigned_to', 'snoozed_until', 'occurrence_count', 'occurred_at', 'environment'],
        ],
        when: isCovering,
      },
    ],
  },
  faultboard_error_search: {
    columns: { error_id: primaryKey(integer), search_text: longText },
  },
  faultboard_search_history: {
    columns: { id, error_id: integer, kind: varchar(16), digest: varchar(64), search_text: longText },
    unique: { name: 'faultboard_search_history_digest', columns: ['error_id', 'digest'] },
  },
  faultboard_payloads: {
    columns: { id, error_id: integer, digest: varchar(64), content: longText },
    unique: { name: 'faultboard_payloads_digest', columns: ['error_id', 'digest'] },
  },
  faultboard_occurrences: {
    columns: {
      id,
      error_id: integer,
      payload_id: integer,
      occurred_at: integer,
      message: nullable(longText),
      platform: varchar(64),
      app_version: nullable(varchar(128)),
      git_sha: nullable(varchar(64)),
      user_id: nullable(varchar(255)),
      request_url: nullable(longText),
      ip_address: nullable(varchar(64)),
      user_agent: nullable(varchar(512)),
      context: nullable(longText),
    },
    indexes: [{ columns: ['error_id', 'occurred_at'] }, { columns: ['occurred_at', 'id', 'error_id'] }],
  },
  faultboard_error_features: {
    columns: { error_id: integer, feature: integer },
    key: { columns: ['error_id', 'feature'] },
    indexes: [{ columns: ['feature', 'error_id'] }],
  },
  faultboard_batches: {
    columns: { batch_id: primaryKey(varchar(64)), created_at: integer },
    indexes: [{ columns: ['created_at'] }],
  },
  faultboard_reported_events: {
    columns: { application_id: integer, event_digest: varchar(32), batch_id: varchar(64), created_at: integer },
    key: { columns: ['application_id', 'event_digest'] },
    indexes: [{ columns: ['created_at'] }],
  },
}

/** Sums that stay exact after their occurrences are deleted. */
const SUM_TABLES: Record<string, CreatedTable> = {
  faultboard_error_hours: {
    columns: {
      error_id: integer,
      hour: integer,
      severity: varchar(16),
      platform: varchar(64),
      app_version: varchar(128),
      count: integer,
    },
    key: { columns: ['error_id', 'hour', 'severity', 'platform', 'app_version'] },
    isClustered: true,
    // PostgreSQL updates a row in place only if no index contains the changed column.
    indexes: [
      { columns: ['hour', 'error_id', 'count'], when: isCovering },
      { columns: ['hour', 'error_id'], when: (dialect) => !isCovering(dialect) },
    ],
  },
  faultboard_application_hours: {
    columns: {
      application_id: integer,
      hour: integer,
      severity: varchar(16),
      platform: varchar(64),
      app_version: varchar(128),
      environment: varchar(64),
      count: integer,
    },
    key: { columns: ['application_id', 'hour', 'severity', 'platform', 'app_version', 'environment'] },
    indexes: [
      {
        name: 'faultboard_application_hours_versions',
        columns: ['application_id', 'app_version', 'hour', 'environment'],
      },
      {
        columns: ['hour', 'severity', 'application_id', 'platform', 'app_version', 'environment', 'count'],
        when: isCovering,
      },
    ],
  },
  faultboard_application_days: {
    columns: {
      application_id: integer,
      day: integer,
      severity: varchar(16),
      platform: varchar(64),
      app_version: varchar(128),
      environment: varchar(64),
      count: integer,
    },
    key: {
      name: 'faultboard_application_days_by_platform',
      columns: ['application_id', 'day', 'severity', 'platform', 'app_version', 'environment'],
    },
    isClustered: true,
  },
  faultboard_type_hours: {
    columns: {
      application_id: integer,
      error_type: varchar(255),
      hour: integer,
      environment: varchar(64),
      count: integer,
    },
    key: { columns: ['application_id', 'error_type', 'hour', 'environment'] },
    isClustered: true,
  },
  faultboard_type_days: {
    columns: {
      application_id: integer,
      day: integer,
      error_type: varchar(255),
      environment: varchar(64),
      count: integer,
    },
    key: { columns: ['application_id', 'day', 'error_type', 'environment'] },
    isClustered: true,
  },
  faultboard_error_versions: {
    columns: {
      application_id: integer,
      app_version: varchar(128),
      error_id: integer,
      count: integer,
      first_hour: integer,
      last_hour: integer,
    },
    key: { columns: ['application_id', 'app_version', 'error_id'] },
    isClustered: true,
  },
  faultboard_error_users: {
    columns: {
      error_id: integer,
      user_id: varchar(255),
      count: integer,
      first_seen_at: integer,
      last_seen_at: integer,
    },
    key: { columns: ['error_id', 'user_id'] },
    isClustered: true,
    indexes: [
      { columns: ['last_seen_at', 'user_id', 'error_id', 'first_seen_at'] },
      // MySQL skips indexes whose columns do not change, so the short index is cheaper there.
      { columns: ['user_id', 'last_seen_at', 'error_id', 'count'], when: (dialect) => !dialect.skipsUnchangedIndexes },
      { columns: ['user_id'], when: (dialect) => dialect.skipsUnchangedIndexes },
    ],
  },
}

/** Values of the occurrences of an error that lists filter by. */
const ORIGIN_TABLES: Record<string, CreatedTable> = {
  faultboard_error_origins: {
    columns: { error_id: integer, kind: varchar(16), value: varchar(64) },
    key: { columns: ['error_id', 'kind', 'value'] },
    isClustered: true,
    indexes: [{ columns: ['kind', 'value', 'error_id'] }],
  },
}

const TRIAGE_TABLES: Record<string, CreatedTable> = {
  faultboard_comments: {
    columns: { id, error_id: integer, author_name: varchar(255), body: longText, created_at: integer },
    indexes: [{ columns: ['error_id'] }],
  },
  faultboard_activities: {
    columns: {
      id,
      error_id: integer,
      actor: varchar(255),
      action: varchar(32),
      from_value: nullable(longText),
      to_value: nullable(longText),
      comment: nullable(longText),
      created_at: integer,
    },
    indexes: [{ columns: ['error_id'] }],
  },
  faultboard_saved_views: {
    columns: { id, name: unique(varchar(255)), query: longText, created_by: varchar(255), created_at: integer },
  },
}

/** Releases of the server, or of clients. */
const RELEASES: CreatedTable = {
  columns: {
    application_id: integer,
    platform: varchar(64),
    version: varchar(128),
    environment: varchar(64),
    first_seen_at: integer,
  },
  key: { columns: ['application_id', 'platform', 'version', 'environment'] },
}

/** Releases, baselines and cascades. */
const ANALYTICS_TABLES: Record<string, CreatedTable> = {
  faultboard_releases: RELEASES,
  faultboard_client_releases: RELEASES,
  faultboard_baselines: {
    columns: {
      id,
      application_id: integer,
      error_type: varchar(255),
      platform: varchar(64),
      environment: varchar(64),
      granularity: varchar(16),
      mean: fraction,
      std_dev: fraction,
      sample_count: integer,
      occurrence_count: integer,
      calculated_at: integer,
    },
    unique: { columns: ['application_id', 'error_type', 'platform', 'environment', 'granularity'] },
  },
  faultboard_cascades: {
    columns: {
      id,
      parent_error_id: integer,
      child_error_id: integer,
      parent_count: integer,
      followed_count: integer,
      probability: fraction,
      average_delay_ms: integer,
      first_detected_at: integer,
      last_detected_at: integer,
      expected_probability: nullable(fraction),
    },
    unique: { name: 'faultboard_cascades_pair', columns: ['parent_error_id', 'child_error_id'] },
    indexes: [{ columns: ['child_error_id'] }],
  },
  faultboard_cascade_hours: {
    columns: {
      hour: integer,
      parent_error_id: integer,
      child_error_id: integer,
      followed_count: integer,
      delay_ms: integer,
    },
    key: { columns: ['hour', 'parent_error_id', 'child_error_id'] },
  },
  faultboard_cascade_parents: {
    columns: { hour: integer, error_id: integer, count: integer, covered_ms: nullable(integer) },
    key: { columns: ['hour', 'error_id'] },
  },
}

/** Embedded job engine, schedules, notifications and client budgets. */
const WORK_TABLES: Record<string, CreatedTable> = {
  faultboard_jobs: {
    columns: {
      id,
      name: varchar(100),
      payload: longText,
      state: varchar(16),
      run_at: integer,
      attempts: { type: 'integer', default: 0 },
      max_attempts: { type: 'integer' },
      locked_by: nullable(varchar(100)),
      locked_until: nullable(integer),
      last_error: nullable(longText),
      created_at: integer,
      finished_at: nullable(integer),
      job_key: nullable(varchar(190)),
    },
    indexes: [{ columns: ['state', 'run_at'] }, { columns: ['job_key'], isUnique: true }],
  },
  faultboard_leases: {
    columns: {
      name: primaryKey(varchar(100)),
      holder: nullable(varchar(100)),
      expires_at: integer,
      last_run_at: nullable(integer),
    },
  },
  faultboard_deliveries: {
    columns: {
      id,
      idempotency_key: unique(varchar(128)),
      channel: varchar(32),
      event: varchar(32),
      error_id: nullable(integer),
      application_id: nullable(integer),
      state: varchar(16),
      attempts: { type: 'integer', default: 0 },
      payload: longText,
      last_response: nullable(longText),
      created_at: integer,
      finished_at: nullable(integer),
      run_at: nullable(integer),
      locked_until: nullable(integer),
      attempted_at: nullable(integer),
    },
    indexes: [
      { columns: ['created_at'] },
      { columns: ['attempted_at'], where: hasValue('attempted_at') },
      // Covers the number of messages ahead of an overdue message.
      { columns: ['state', 'run_at', 'application_id'] },
      { columns: ['error_id', 'channel'], where: hasValue('error_id') },
      // Covers all filters and counts of the delivery log and of channel health, because the rows are wide.
      {
        name: 'faultboard_deliveries_log',
        columns: ['state', 'channel', 'application_id', 'event', 'attempts', 'created_at'],
      },
    ],
  },
  faultboard_cooldowns: {
    columns: { name: primaryKey(varchar(190)), until: integer },
    indexes: [{ columns: ['until'] }],
  },
  faultboard_budget_usage: {
    columns: {
      application_id: integer,
      budget: varchar(64),
      period: integer,
      amount: integer,
      closed_at: nullable(integer),
    },
    key: { columns: ['application_id', 'budget', 'period'] },
    indexes: [{ columns: ['period'] }],
  },
  faultboard_rejection_hours: {
    columns: {
      application_id: integer,
      hour: integer,
      budget_digest: varchar(64),
      budget: varchar(64),
      count: integer,
      first_seen_at: integer,
      last_seen_at: integer,
    },
    key: { columns: ['application_id', 'hour', 'budget_digest'] },
    indexes: [{ columns: ['hour'] }],
  },
}

/** Keys of the hourly tables contain a digest, because their texts are longer than a MySQL key. */
const DIAGNOSTIC_TABLES: Record<string, CreatedTable> = {
  faultboard_swallowed_exceptions: {
    columns: {
      application_id: integer,
      hour: integer,
      location_digest: varchar(64),
      error_type: varchar(255),
      raise_location: varchar(500),
      rescue_location: varchar(500),
      handler_kind: varchar(16),
      raise_count: integer,
      rescue_count: integer,
      reported_count: nullable(integer),
      last_seen_at: nullable(integer),
    },
    key: { name: 'faultboard_swallowed_key', columns: ['application_id', 'hour', 'location_digest'] },
  },
  faultboard_diagnostic_dumps: {
    columns: { id, application_id: integer, note: nullable(longText), content: longText, created_at: integer },
    indexes: [{ columns: ['created_at'] }],
  },
  faultboard_request_guard_hours: {
    columns: {
      application_id: integer,
      hour: integer,
      event_digest: varchar(64),
      kind: varchar(16),
      rule: varchar(255),
      ip_address: varchar(64),
      path: varchar(500),
      count: integer,
      last_seen_at: nullable(integer),
    },
    key: { name: 'faultboard_request_guard_key', columns: ['application_id', 'hour', 'event_digest'] },
  },
  faultboard_repeated_statement_hours: {
    columns: {
      application_id: integer,
      hour: integer,
      statement_digest: varchar(64),
      statement: varchar(1000),
      route: varchar(500),
      place: varchar(500),
      request_count: integer,
      statement_count: integer,
      worst_count: integer,
      duration_ms: integer,
      last_seen_at: integer,
    },
    key: { name: 'faultboard_repeated_statement_key', columns: ['application_id', 'hour', 'statement_digest'] },
  },
  faultboard_deprecation_hours: {
    columns: {
      application_id: integer,
      hour: integer,
      warning_digest: varchar(64),
      code: varchar(64),
      message: varchar(1000),
      place: varchar(500),
      app_version: varchar(128),
      count: integer,
      first_seen_at: integer,
      last_seen_at: integer,
    },
    key: { name: 'faultboard_deprecation_key', columns: ['application_id', 'hour', 'warning_digest'] },
  },
  faultboard_processes: {
    columns: {
      id,
      process_key: varchar(64),
      application_id: integer,
      hostname: varchar(255),
      pid: integer,
      node_version: varchar(64),
      app_version: nullable(varchar(128)),
      started_at: integer,
      last_minute: integer,
    },
    indexes: [{ columns: ['process_key'], isUnique: true }, { columns: ['application_id', 'last_minute'] }],
  },
  faultboard_process_minutes: {
    columns: {
      process_id: integer,
      minute: integer,
      rss_bytes: integer,
      heap_used_bytes: integer,
      heap_limit_bytes: integer,
      handles: integer,
      errors: integer,
      delay_p50_ms: nullable(fraction),
      delay_p99_ms: nullable(fraction),
      delay_max_ms: nullable(fraction),
      utilization: fraction,
      cpu: fraction,
      gc_ms: fraction,
    },
    key: { columns: ['process_id', 'minute'] },
  },
  faultboard_source_maps: {
    columns: {
      id,
      application_id: integer,
      release_name: varchar(128),
      file_name: varchar(1000),
      file_digest: varchar(64),
      debug_id: nullable(varchar(64)),
      folder: varchar(500),
      packed_map: longText,
      packed_code: nullable(longText),
      map_bytes: integer,
      packed_bytes: integer,
      created_at: integer,
      packed_sources: nullable(longText),
    },
    indexes: [
      { columns: ['application_id', 'file_digest'], isUnique: true },
      { columns: ['application_id', 'release_name'] },
    ],
  },
}

/**
 * Includes the tables and indexes of 0002-environments and 0008-environment-indexes, so that a new database is created
 * in one step.
 */
export const TABLES: Record<string, CreatedTable> = {
  ...ERROR_TABLES,
  ...SUM_TABLES,
  ...ORIGIN_TABLES,
  ...TRIAGE_TABLES,
  ...ANALYTICS_TABLES,
  ...WORK_TABLES,
  ...DIAGNOSTIC_TABLES,
}
