import type { Schema } from '../schema.js'

export interface MovedTable {
  /** Primary key, which is also the read order. */
  key: readonly string[]
  /** Column whose total is reported next to the number of rows. */
  sum?: string
  /** Rows per read. Smaller for tables with wide rows. */
  batchSize?: number
  /** Whether a host creates rows when it starts. Such rows are deleted in a target without errors. */
  isDisposable?: true
}

/** THE LIST of moved tables: every table, in the order of its references. */
export const MOVED_TABLES = {
  faultboard_applications: { key: ['id'], isDisposable: true },
  faultboard_errors: { key: ['id'], sum: 'occurrence_count', batchSize: 200 },
  faultboard_error_search: { key: ['error_id'], batchSize: 100 },
  faultboard_search_history: { key: ['id'], batchSize: 100 },
  faultboard_payloads: { key: ['id'], batchSize: 100 },
  faultboard_occurrences: { key: ['id'], batchSize: 100 },
  faultboard_error_hours: { key: ['error_id', 'hour', 'severity', 'platform', 'app_version'], sum: 'count' },
  faultboard_application_hours: {
    key: ['application_id', 'hour', 'severity', 'platform', 'app_version'],
    sum: 'count',
  },
  faultboard_application_days: { key: ['application_id', 'day', 'severity', 'platform', 'app_version'], sum: 'count' },
  faultboard_type_hours: { key: ['application_id', 'error_type', 'hour'], sum: 'count' },
  faultboard_type_days: { key: ['application_id', 'day', 'error_type'], sum: 'count' },
  faultboard_error_versions: { key: ['application_id', 'app_version', 'error_id'], sum: 'count' },
  faultboard_error_users: { key: ['error_id', 'user_id'], sum: 'count' },
  faultboard_error_features: { key: ['error_id', 'feature'] },
  faultboard_comments: { key: ['id'], batchSize: 200 },
  faultboard_activities: { key: ['id'], batchSize: 200 },
  faultboard_releases: { key: ['application_id', 'platform', 'version'] },
  faultboard_client_releases: { key: ['application_id', 'platform', 'version'] },
  faultboard_budget_usage: { key: ['application_id', 'budget', 'period'], sum: 'amount', isDisposable: true },
  faultboard_rejection_hours: { key: ['application_id', 'hour', 'budget_digest'], sum: 'count', isDisposable: true },
  faultboard_baselines: { key: ['id'], sum: 'occurrence_count', isDisposable: true },
  faultboard_cascades: { key: ['id'], sum: 'followed_count' },
  faultboard_cascade_hours: { key: ['hour', 'parent_error_id', 'child_error_id'], sum: 'followed_count' },
  faultboard_cascade_parents: { key: ['hour', 'error_id'], sum: 'count' },
  faultboard_saved_views: { key: ['id'] },
  faultboard_source_maps: { key: ['id'], sum: 'packed_bytes', batchSize: 5 },
  faultboard_diagnostic_dumps: { key: ['id'], batchSize: 10 },
  faultboard_processes: { key: ['id'], isDisposable: true },
  faultboard_process_minutes: { key: ['process_id', 'minute'], sum: 'errors', isDisposable: true },
  faultboard_swallowed_exceptions: { key: ['application_id', 'hour', 'location_digest'], sum: 'raise_count' },
  faultboard_request_guard_hours: { key: ['application_id', 'hour', 'event_digest'], sum: 'count' },
  faultboard_repeated_statement_hours: {
    key: ['application_id', 'hour', 'statement_digest'],
    sum: 'statement_count',
  },
  faultboard_deprecation_hours: { key: ['application_id', 'hour', 'warning_digest'], sum: 'count' },
  faultboard_jobs: { key: ['id'], batchSize: 100, isDisposable: true },
  faultboard_deliveries: { key: ['id'], batchSize: 100 },
  faultboard_cooldowns: { key: ['name'], isDisposable: true },
  faultboard_batches: { key: ['batch_id'], isDisposable: true },
  faultboard_reported_events: { key: ['application_id', 'event_digest'] },
  faultboard_leases: { key: ['name'], isDisposable: true },
} as const satisfies Record<keyof Schema, MovedTable>

export const TABLE_NAMES = Object.keys(MOVED_TABLES) as (keyof Schema)[]

export function movedTable(name: keyof Schema): MovedTable {
  return MOVED_TABLES[name]
}
