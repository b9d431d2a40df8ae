import type { Column } from '../define-table.js'
import type { BulkTarget, BulkUpdate } from '../dialect.js'
import { type ColumnName, type TableName, tableDefinition } from '../schema.js'

interface BulkOptions<Name extends TableName> {
  /** If absent, a conflict is an error. The default key is the primary key. */
  onConflict?: { key?: readonly ColumnName<Name>[]; update: readonly BulkUpdate<ColumnName<Name>>[] }
  returning?: readonly ColumnName<Name>[]
}

/** Defines a bulk insert. The definition of the table contains the types of the columns. */
export function bulkTarget<Name extends TableName>(
  table: Name,
  columns: readonly ColumnName<Name>[],
  { onConflict, ...options }: BulkOptions<Name> = {},
): BulkTarget {
  const { columns: defined, key } = tableDefinition(table)
  return {
    table,
    columns: columns.map((name) => ({ name, type: (defined[name] as Column<unknown>).kind })),
    ...(onConflict && { onConflict: { key, ...onConflict } }),
    ...options,
  }
}

export const BATCHES = bulkTarget('faultboard_batches', ['batch_id', 'created_at'])

export const REPORTED_EVENTS = bulkTarget(
  'faultboard_reported_events',
  ['application_id', 'event_digest', 'batch_id', 'created_at'],
  {
    onConflict: { update: [] },
    returning: ['event_digest'],
  },
)

export const GROUPS = bulkTarget(
  'faultboard_errors',
  [
    'application_id',
    'environment',
    'hash_signature',
    'error_type',
    'message',
    'first_message',
    'place',
    'severity',
    'platform',
    'app_version',
    'first_app_version',
    'git_sha',
    'user_id',
    'source',
    'occurrence_count',
    'first_seen_at',
    'shown_at',
    'occurred_at',
  ],
  {
    onConflict: {
      key: ['application_id', 'environment', 'hash_signature'],
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
      'environment',
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
  },
)

export const SEARCH_TEXTS = bulkTarget('faultboard_error_search', ['error_id', 'search_text'], {
  onConflict: { update: [] },
})

export const SEARCH_HISTORY = bulkTarget('faultboard_search_history', ['error_id', 'kind', 'digest', 'search_text'], {
  onConflict: { key: ['error_id', 'digest'], update: [] },
  returning: ['error_id'],
})

export const REQUEST_TEXTS = bulkTarget('faultboard_search_history', ['error_id', 'kind', 'digest', 'search_text'], {
  onConflict: { key: ['error_id', 'digest'], update: [] },
})

export const PAYLOADS = bulkTarget('faultboard_payloads', ['error_id', 'digest', 'content'], {
  onConflict: { key: ['error_id', 'digest'], update: [] },
  returning: ['id', 'error_id', 'digest'],
})

export const OCCURRENCES = bulkTarget('faultboard_occurrences', [
  'error_id',
  'payload_id',
  'occurred_at',
  'message',
  'platform',
  'app_version',
  'git_sha',
  'user_id',
  'request_url',
  'ip_address',
  'user_agent',
  'context',
])

const DIMENSIONS = ['severity', 'platform', 'app_version'] as const

export const ERROR_HOURS = bulkTarget('faultboard_error_hours', ['error_id', 'hour', ...DIMENSIONS, 'count'], {
  onConflict: { update: [{ column: 'count', by: 'add' }] },
})

export const APPLICATION_HOURS = bulkTarget(
  'faultboard_application_hours',
  ['application_id', 'hour', ...DIMENSIONS, 'environment', 'count'],
  {
    onConflict: { update: [{ column: 'count', by: 'add' }] },
  },
)

export const APPLICATION_DAYS = bulkTarget(
  'faultboard_application_days',
  ['application_id', 'day', ...DIMENSIONS, 'environment', 'count'],
  {
    onConflict: { update: [{ column: 'count', by: 'add' }] },
  },
)

export const TYPE_HOURS = bulkTarget(
  'faultboard_type_hours',
  ['application_id', 'error_type', 'hour', 'environment', 'count'],
  {
    onConflict: { update: [{ column: 'count', by: 'add' }] },
  },
)

export const TYPE_DAYS = bulkTarget(
  'faultboard_type_days',
  ['application_id', 'day', 'error_type', 'environment', 'count'],
  {
    onConflict: { update: [{ column: 'count', by: 'add' }] },
  },
)

export const ERROR_VERSIONS = bulkTarget(
  'faultboard_error_versions',
  ['application_id', 'app_version', 'error_id', 'count', 'first_hour', 'last_hour'],
  {
    onConflict: {
      update: [
        { column: 'count', by: 'add' },
        { column: 'first_hour', by: 'least' },
        { column: 'last_hour', by: 'greatest' },
      ],
    },
  },
)

export const ERROR_USERS = bulkTarget(
  'faultboard_error_users',
  ['error_id', 'user_id', 'count', 'first_seen_at', 'last_seen_at'],
  {
    onConflict: {
      update: [
        { column: 'count', by: 'add' },
        { column: 'first_seen_at', by: 'least' },
        { column: 'last_seen_at', by: 'greatest' },
      ],
    },
    returning: ['error_id', 'user_id', 'count'],
  },
)

export const ERROR_ORIGINS = bulkTarget('faultboard_error_origins', ['error_id', 'kind', 'value'], {
  onConflict: { update: [] },
})

export const ERROR_TAGS = bulkTarget('faultboard_error_tags', ['error_id', 'tag_key', 'tag_value'], {
  onConflict: { update: [] },
})

export const ACTIVITIES = bulkTarget('faultboard_activities', [
  'error_id',
  'actor',
  'action',
  'from_value',
  'to_value',
  'comment',
  'created_at',
])

export const AUDIT_ENTRIES = bulkTarget('faultboard_audit_entries', [
  'created_at',
  'actor',
  'kind',
  'address',
  'action',
  'error_id',
  'target',
  'count',
  'detail',
])

export const APPLICATIONS = bulkTarget('faultboard_applications', ['name', 'created_at'], {
  onConflict: { key: ['name'], update: [] },
})

export const LEASES = bulkTarget('faultboard_leases', ['name', 'expires_at', 'last_run_at'], {
  onConflict: { update: [] },
})

export const DELIVERIES = bulkTarget(
  'faultboard_deliveries',
  [
    ...(['idempotency_key', 'channel', 'event', 'error_id', 'application_id', 'environment'] as const),
    ...(['state', 'payload', 'run_at', 'created_at'] as const),
  ],
  {
    onConflict: { key: ['idempotency_key'], update: [] },
  },
)

export const COOLDOWNS = bulkTarget('faultboard_cooldowns', ['name', 'until'], {
  onConflict: { update: [{ column: 'until', by: 'greatest' }] },
})

/** Counter per late hour. The cascade job deletes it only if the count has not changed since it was read. */
export const LATE_HOURS = bulkTarget('faultboard_leases', ['name', 'expires_at'], {
  onConflict: { update: [{ column: 'expires_at', by: 'add' }] },
})

export const FEATURES = bulkTarget('faultboard_error_features', ['error_id', 'feature'], {
  onConflict: { update: [] },
})

export const RELEASES = bulkTarget(
  'faultboard_releases',
  ['application_id', 'platform', 'version', 'environment', 'first_seen_at'],
  {
    onConflict: { update: [{ column: 'first_seen_at', by: 'least' }] },
  },
)

export const BUDGET_USAGE = bulkTarget('faultboard_budget_usage', ['application_id', 'budget', 'period', 'amount'], {
  onConflict: { update: [{ column: 'amount', by: 'add' }] },
})

/** Releases that clients report. They never affect the regression of a server error. */
export const CLIENT_RELEASES: BulkTarget = { ...RELEASES, table: 'faultboard_client_releases' }

export const BASELINES = bulkTarget(
  'faultboard_baselines',
  [
    'application_id',
    'error_type',
    'platform',
    'environment',
    'granularity',
    'mean',
    'std_dev',
    'sample_count',
    'occurrence_count',
    'calculated_at',
  ],
  {
    onConflict: {
      key: ['application_id', 'error_type', 'platform', 'environment', 'granularity'],
      update: replaceColumns('mean', 'std_dev', 'sample_count', 'occurrence_count', 'calculated_at'),
    },
  },
)

export const CASCADES = bulkTarget(
  'faultboard_cascades',
  [
    'parent_error_id',
    'child_error_id',
    'parent_count',
    'followed_count',
    'probability',
    'expected_probability',
    'average_delay_ms',
    'first_detected_at',
    'last_detected_at',
  ],
  {
    onConflict: {
      key: ['parent_error_id', 'child_error_id'],
      update: replaceColumns(
        'parent_count',
        'followed_count',
        'probability',
        'expected_probability',
        'average_delay_ms',
        'last_detected_at',
      ),
    },
  },
)

export const CASCADE_HOURS = bulkTarget(
  'faultboard_cascade_hours',
  ['hour', 'parent_error_id', 'child_error_id', 'followed_count', 'delay_ms'],
  {
    onConflict: {
      update: [
        { column: 'followed_count', by: 'add' },
        { column: 'delay_ms', by: 'add' },
      ],
    },
  },
)

export const CASCADE_PARENTS = bulkTarget('faultboard_cascade_parents', ['hour', 'error_id', 'count', 'covered_ms'], {
  onConflict: {
    update: [
      { column: 'count', by: 'add' },
      { column: 'covered_ms', by: 'add' },
    ],
  },
})

function replaceColumns<Name extends string>(...columns: Name[]): BulkUpdate<Name>[] {
  return columns.map((column) => ({ column, by: 'replace' }))
}
