import { TABLES } from './schema.js'

/**
 * Returns true if a column or alias contains integers. Drivers return them as number, string or BigInt, depending on
 * the type parsers of the host, so the database converts them to numbers. Fractions are converted by the reading code.
 */
export function isIntegerColumn(column: string): boolean {
  return INTEGER_COLUMNS.has(column)
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

const INTEGER_COLUMNS: ReadonlySet<string> = new Set([
  ...Object.values(TABLES).flatMap(({ columns }) =>
    Object.entries(columns).flatMap(([name, { kind }]) => (kind === 'integer' ? [name] : [])),
  ),
  ...ALIASES,
])
