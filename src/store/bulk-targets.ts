import type { BulkColumn, BulkTarget, BulkUpdate } from './dialect.js'

/** Bulk inserts of the tracker, by table. */

export const BATCHES: BulkTarget = {
  table: 'faultboard_batches',
  columns: [...texts('batch_id'), ...integers('created_at')],
}

export const REPORTED_EVENTS: BulkTarget = {
  table: 'faultboard_reported_events',
  columns: [...integers('application_id'), ...texts('event_digest', 'batch_id'), ...integers('created_at')],
  onConflict: { key: ['application_id', 'event_digest'], update: [] },
  returning: ['event_digest'],
}

export const GROUPS: BulkTarget = {
  table: 'faultboard_errors',
  columns: [
    ...integers('application_id'),
    ...texts(
      'hash_signature',
      'error_type',
      'message',
      'first_message',
      'place',
      'severity',
      'platform',
      'app_version',
    ),
    ...texts('first_app_version', 'git_sha', 'user_id', 'source'),
    ...integers('occurrence_count', 'first_seen_at', 'shown_at', 'occurred_at'),
  ],
  onConflict: {
    key: ['application_id', 'hash_signature'],
    update: [
      ...(['message', 'place', 'platform', 'app_version', 'git_sha', 'user_id'] as const).map((column) => ({
        column,
        by: 'newest' as const,
      })),
      { column: 'severity', by: 'most_severe' },
      { column: 'first_app_version', by: 'oldest' },
      { column: 'occurrence_count', by: 'add' },
      // Last, because MySQL evaluates assignments in order and the assignments above compare these three columns.
      { column: 'first_seen_at', by: 'least' },
      { column: 'shown_at', by: 'newest' },
      { column: 'occurred_at', by: 'greatest' },
    ],
  },
  returning: [
    'id',
    'hash_signature',
    'error_type',
    'first_message',
    'severity',
    'occurred_at',
    'shown_at',
    'occurrence_count',
    'status',
    'resolved_at',
    'reopened_at',
    'resolved_by_name',
    'snoozed_until',
    'resolved_in_version',
    'first_seen_at',
    'muted_at',
    'muted_until',
    'source',
  ],
}

export const SEARCH_TEXTS: BulkTarget = {
  table: 'faultboard_error_search',
  columns: [...integers('error_id'), ...texts('search_text')],
  onConflict: { key: ['error_id'], update: [] },
}

export const SEARCH_HISTORY: BulkTarget = {
  table: 'faultboard_search_history',
  columns: [...integers('error_id'), ...texts('kind', 'digest', 'search_text')],
  onConflict: { key: ['error_id', 'digest'], update: [] },
  returning: ['error_id'],
}

export const PAYLOADS: BulkTarget = {
  table: 'faultboard_payloads',
  columns: [...integers('error_id'), ...texts('digest', 'content')],
  onConflict: { key: ['error_id', 'digest'], update: [] },
  returning: ['id', 'error_id', 'digest'],
}

export const OCCURRENCES: BulkTarget = {
  table: 'faultboard_occurrences',
  columns: [
    ...integers('error_id', 'payload_id', 'occurred_at'),
    ...texts('message', 'platform', 'app_version', 'git_sha', 'user_id', 'request_url'),
    ...texts('ip_address', 'user_agent', 'context'),
  ],
}

const DIMENSIONS = ['severity', 'platform', 'app_version'] as const

export const ERROR_HOURS: BulkTarget = {
  table: 'faultboard_error_hours',
  columns: [...integers('error_id', 'hour'), ...texts(...DIMENSIONS), ...integers('count')],
  onConflict: { key: ['error_id', 'hour', ...DIMENSIONS], update: [{ column: 'count', by: 'add' }] },
}

export const APPLICATION_HOURS: BulkTarget = {
  table: 'faultboard_application_hours',
  columns: [...integers('application_id', 'hour'), ...texts(...DIMENSIONS), ...integers('count')],
  onConflict: { key: ['application_id', 'hour', ...DIMENSIONS], update: [{ column: 'count', by: 'add' }] },
}

export const APPLICATION_DAYS: BulkTarget = {
  table: 'faultboard_application_days',
  columns: [...integers('application_id', 'day'), ...texts(...DIMENSIONS), ...integers('count')],
  onConflict: { key: ['application_id', 'day', ...DIMENSIONS], update: [{ column: 'count', by: 'add' }] },
}

export const TYPE_HOURS: BulkTarget = {
  table: 'faultboard_type_hours',
  columns: [...integers('application_id'), ...texts('error_type'), ...integers('hour', 'count')],
  onConflict: { key: ['application_id', 'error_type', 'hour'], update: [{ column: 'count', by: 'add' }] },
}

export const TYPE_DAYS: BulkTarget = {
  table: 'faultboard_type_days',
  columns: [...integers('application_id', 'day'), ...texts('error_type'), ...integers('count')],
  onConflict: { key: ['application_id', 'day', 'error_type'], update: [{ column: 'count', by: 'add' }] },
}

export const ERROR_VERSIONS: BulkTarget = {
  table: 'faultboard_error_versions',
  columns: [
    ...integers('application_id'),
    ...texts('app_version'),
    ...integers('error_id', 'count', 'first_hour', 'last_hour'),
  ],
  onConflict: {
    key: ['application_id', 'app_version', 'error_id'],
    update: [
      { column: 'count', by: 'add' },
      { column: 'first_hour', by: 'least' },
      { column: 'last_hour', by: 'greatest' },
    ],
  },
}

export const ERROR_USERS: BulkTarget = {
  table: 'faultboard_error_users',
  columns: [...integers('error_id'), ...texts('user_id'), ...integers('count', 'first_seen_at', 'last_seen_at')],
  onConflict: {
    key: ['error_id', 'user_id'],
    update: [
      { column: 'count', by: 'add' },
      { column: 'first_seen_at', by: 'least' },
      { column: 'last_seen_at', by: 'greatest' },
    ],
  },
  returning: ['error_id', 'user_id', 'count'],
}

export const ACTIVITIES: BulkTarget = {
  table: 'faultboard_activities',
  columns: [
    ...integers('error_id'),
    ...texts('actor', 'action', 'from_value', 'to_value', 'comment'),
    ...integers('created_at'),
  ],
}

export const APPLICATIONS: BulkTarget = {
  table: 'faultboard_applications',
  columns: [...texts('name'), ...integers('created_at')],
  onConflict: { key: ['name'], update: [] },
}

export const LEASES: BulkTarget = {
  table: 'faultboard_leases',
  columns: [...texts('name'), ...integers('expires_at', 'last_run_at')],
  onConflict: { key: ['name'], update: [] },
}

export const DELIVERIES: BulkTarget = {
  table: 'faultboard_deliveries',
  columns: [
    ...texts('idempotency_key', 'channel', 'event'),
    ...integers('error_id', 'application_id'),
    ...texts('state', 'payload'),
    ...integers('run_at', 'created_at'),
  ],
  onConflict: { key: ['idempotency_key'], update: [] },
}

export const COOLDOWNS: BulkTarget = {
  table: 'faultboard_cooldowns',
  columns: [...texts('name'), ...integers('until')],
  onConflict: { key: ['name'], update: [{ column: 'until', by: 'greatest' }] },
}

/** Counter per late hour. The cascade job deletes it only if the count has not changed since it was read. */
export const LATE_HOURS: BulkTarget = {
  table: 'faultboard_leases',
  columns: [...texts('name'), ...integers('expires_at')],
  onConflict: { key: ['name'], update: [{ column: 'expires_at', by: 'add' }] },
}

export const FEATURES: BulkTarget = {
  table: 'faultboard_error_features',
  columns: integers('error_id', 'feature'),
  onConflict: { key: ['error_id', 'feature'], update: [] },
}

export const RELEASES: BulkTarget = {
  table: 'faultboard_releases',
  columns: [...integers('application_id'), ...texts('platform', 'version'), ...integers('first_seen_at')],
  onConflict: { key: ['application_id', 'platform', 'version'], update: [{ column: 'first_seen_at', by: 'least' }] },
}

export const BUDGET_USAGE: BulkTarget = {
  table: 'faultboard_budget_usage',
  columns: [...integers('application_id'), ...texts('budget'), ...integers('period', 'amount')],
  onConflict: { key: ['application_id', 'budget', 'period'], update: [{ column: 'amount', by: 'add' }] },
}

/** Releases that clients report. They never affect the regression of a server error. */
export const CLIENT_RELEASES: BulkTarget = { ...RELEASES, table: 'faultboard_client_releases' }

export const BASELINES: BulkTarget = {
  table: 'faultboard_baselines',
  columns: [
    ...integers('application_id'),
    ...texts('error_type', 'platform', 'granularity'),
    ...fractions('mean', 'std_dev'),
    ...integers('sample_count', 'occurrence_count', 'calculated_at'),
  ],
  onConflict: {
    key: ['application_id', 'error_type', 'platform', 'granularity'],
    update: replaced('mean', 'std_dev', 'sample_count', 'occurrence_count', 'calculated_at'),
  },
}

export const CASCADES: BulkTarget = {
  table: 'faultboard_cascades',
  columns: [
    ...integers('parent_error_id', 'child_error_id', 'parent_count', 'followed_count'),
    ...fractions('probability', 'expected_probability'),
    ...integers('average_delay_ms', 'first_detected_at', 'last_detected_at'),
  ],
  onConflict: {
    key: ['parent_error_id', 'child_error_id'],
    update: replaced(
      ...['parent_count', 'followed_count', 'probability', 'expected_probability'],
      ...['average_delay_ms', 'last_detected_at'],
    ),
  },
}

export const CASCADE_HOURS: BulkTarget = {
  table: 'faultboard_cascade_hours',
  columns: integers('hour', 'parent_error_id', 'child_error_id', 'followed_count', 'delay_ms'),
  onConflict: {
    key: ['hour', 'parent_error_id', 'child_error_id'],
    update: [
      { column: 'followed_count', by: 'add' },
      { column: 'delay_ms', by: 'add' },
    ],
  },
}

export const CASCADE_PARENTS: BulkTarget = {
  table: 'faultboard_cascade_parents',
  columns: integers('hour', 'error_id', 'count', 'covered_ms'),
  onConflict: {
    key: ['hour', 'error_id'],
    update: [
      { column: 'count', by: 'add' },
      { column: 'covered_ms', by: 'add' },
    ],
  },
}

function replaced(...columns: string[]): BulkUpdate[] {
  return columns.map((column) => ({ column, by: 'replace' }))
}

function fractions(...names: string[]): BulkColumn[] {
  return names.map((name) => ({ name, type: 'fraction' }))
}

function integers(...names: string[]): BulkColumn[] {
  return names.map((name) => ({ name, type: 'integer' }))
}

function texts(...names: string[]): BulkColumn[] {
  return names.map((name) => ({ name, type: 'text' }))
}
