/** Tables of one commit in write order, with their columns, keys and conflict actions. */
export const TABLES = {
  applications: { table: 'faultboard_applications', integers: ['created_at'], texts: ['name'], key: ['name'] },
  batches: { table: 'faultboard_batches', integers: ['created_at'], texts: ['batch_id'] },
  errors: {
    table: 'faultboard_errors',
    integers: ['application_id', 'occurrence_count', 'first_seen_at', 'occurred_at'],
    texts: [
      'environment',
      'hash_signature',
      'error_type',
      'message',
      'place',
      'severity',
      'platform',
      'app_version',
      'first_app_version',
      'git_sha',
      'user_id',
    ],
    key: ['application_id', 'environment', 'hash_signature'],
    add: ['occurrence_count'],
    replace: ['place', 'severity', 'platform', 'app_version', 'git_sha', 'user_id', 'occurred_at'],
  },
  search: { table: 'faultboard_error_search', integers: ['error_id'], texts: ['search_text'], key: ['error_id'] },
  payloads: {
    table: 'faultboard_payloads',
    integers: ['error_id'],
    texts: ['digest', 'content'],
    key: ['error_id', 'digest'],
  },
  occurrences: {
    table: 'faultboard_occurrences',
    integers: ['error_id', 'payload_id', 'occurred_at'],
    texts: [
      'message',
      'platform',
      'app_version',
      'git_sha',
      'user_id',
      'request_url',
      'ip_address',
      'user_agent',
      'context',
    ],
  },
  errorHours: {
    table: 'faultboard_error_hours',
    integers: ['error_id', 'hour', 'count'],
    texts: ['severity', 'platform', 'app_version'],
    key: ['error_id', 'hour', 'severity', 'platform', 'app_version'],
    add: ['count'],
  },
  users: {
    table: 'faultboard_error_users',
    integers: ['error_id', 'count', 'first_seen_at', 'last_seen_at'],
    texts: ['user_id'],
    key: ['error_id', 'user_id'],
    add: ['count'],
    replace: ['last_seen_at'],
  },
  applicationHours: {
    table: 'faultboard_application_hours',
    integers: ['application_id', 'hour', 'count'],
    texts: ['severity', 'platform', 'app_version', 'environment'],
    key: ['application_id', 'hour', 'severity', 'platform', 'app_version', 'environment'],
    add: ['count'],
  },
  applicationDays: {
    table: 'faultboard_application_days',
    integers: ['application_id', 'day', 'count'],
    texts: ['severity', 'platform', 'app_version', 'environment'],
    key: ['application_id', 'day', 'severity', 'platform', 'app_version', 'environment'],
    add: ['count'],
  },
  typeHours: {
    table: 'faultboard_type_hours',
    integers: ['application_id', 'hour', 'count'],
    texts: ['error_type', 'environment'],
    key: ['application_id', 'error_type', 'hour', 'environment'],
    add: ['count'],
  },
  typeDays: {
    table: 'faultboard_type_days',
    integers: ['application_id', 'day', 'count'],
    texts: ['error_type', 'environment'],
    key: ['application_id', 'day', 'error_type', 'environment'],
    add: ['count'],
  },
  versions: {
    table: 'faultboard_error_versions',
    integers: ['application_id', 'error_id', 'count', 'first_hour', 'last_hour'],
    texts: ['app_version'],
    key: ['application_id', 'app_version', 'error_id'],
    add: ['count'],
    replace: ['last_hour'],
  },
  features: {
    table: 'faultboard_error_features',
    integers: ['error_id', 'feature'],
    texts: [],
    key: ['error_id', 'feature'],
  },
}

export function columnsOf({ integers, texts }) {
  return [...integers, ...texts]
}

/** Returns `on conflict … do …` for SQLite and PostgreSQL. */
export function onConflict({ table, key, add = [], replace = [] }) {
  if (!key) return ''
  const set = [
    ...add.map((column) => `"${column}" = "${table}"."${column}" + excluded."${column}"`),
    ...replace.map((column) => `"${column}" = excluded."${column}"`),
  ]
  return ` on conflict (${key.map((column) => `"${column}"`).join(', ')}) do ${set.length > 0 ? `update set ${set.join(', ')}` : 'nothing'}`
}
