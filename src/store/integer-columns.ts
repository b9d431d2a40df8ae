import type { Selectable } from './kysely.js'
import type { Schema } from './schema.js'

/**
 * Whether a column or alias contains integers. Drivers return them as number, string or BigInt, depending on the type
 * parsers of the host, so the database converts them to numbers.
 */
export function isIntegerColumn(column: string): boolean {
  return INTEGER_COLUMNS.has(column)
}

type NumericKeys<Row> = { [Column in keyof Row]: NonNullable<Row[Column]> extends number ? Column : never }[keyof Row]
type NumberColumn = { [Table in keyof Schema]: NumericKeys<Selectable<Schema[Table]>> }[keyof Schema]

/** Columns that the reading code converts. */
type FractionColumn =
  | 'mean'
  | 'std_dev'
  | 'probability'
  | 'expected_probability'
  | 'delay_p50_ms'
  | 'delay_p99_ms'
  | 'delay_max_ms'
  | 'utilisation'
  | 'cpu'
  | 'gc_ms'

/** The type requires all integer columns, because PostgreSQL returns an unlisted column as text. */
const COLUMNS: Record<Exclude<NumberColumn, FractionColumn>, true> = {
  id: true,
  created_at: true,
  application_id: true,
  resolved: true,
  priority_level: true,
  occurrence_count: true,
  user_count: true,
  first_seen_at: true,
  occurred_at: true,
  shown_at: true,
  snoozed_until: true,
  resolved_at: true,
  reopened_at: true,
  muted_at: true,
  muted_until: true,
  error_id: true,
  payload_id: true,
  hour: true,
  count: true,
  day: true,
  first_hour: true,
  last_hour: true,
  last_seen_at: true,
  run_at: true,
  attempts: true,
  max_attempts: true,
  locked_until: true,
  finished_at: true,
  queued_at: true,
  until: true,
  expires_at: true,
  last_run_at: true,
  raise_count: true,
  rescue_count: true,
  reported_count: true,
  pid: true,
  started_at: true,
  last_minute: true,
  process_id: true,
  minute: true,
  rss_bytes: true,
  heap_used_bytes: true,
  heap_limit_bytes: true,
  handles: true,
  errors: true,
  request_count: true,
  statement_count: true,
  worst_count: true,
  duration_ms: true,
  map_bytes: true,
  packed_bytes: true,
  feature: true,
  sample_count: true,
  calculated_at: true,
  parent_error_id: true,
  child_error_id: true,
  parent_count: true,
  followed_count: true,
  average_delay_ms: true,
  first_detected_at: true,
  last_detected_at: true,
  delay_ms: true,
  period: true,
  amount: true,
  closed_at: true,
  covered_ms: true,
}

/** Aliases of sums in queries. A query with any other alias must convert the value itself. */
const ALIASES = [
  'total',
  'occurrences',
  'first_id',
  'last_id',
  'error_count',
  'before_count',
  'resolved_count',
  'new_count',
  'gone_count',
  'worse_count',
  'bucket',
  'file_count',
]

const INTEGER_COLUMNS: ReadonlySet<string> = new Set([...Object.keys(COLUMNS), ...ALIASES])
