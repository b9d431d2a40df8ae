import { hash } from 'node:crypto'
import { cleanText } from '../../model/text.js'
import { bulkTarget } from '../bulk/bulk-targets.js'
import type { BulkTarget } from '../dialect.js'
import { type ColumnName, type TableName, tableDefinition } from '../schema.js'

/** Combines two amounts of the same row. */
export type Aggregation = 'add' | 'greatest' | 'least'

type DigestColumn<Table extends TableName> = Extract<ColumnName<Table>, `${string}_digest`>

/** Tables of `store/schema.ts` with counts per hour and a digest of the counted names. */
export type HourTableName = {
  [Table in TableName]: 'hour' extends ColumnName<Table>
    ? [DigestColumn<Table>] extends [never]
      ? never
      : Table
    : never
}[TableName]

/** Table of hourly counts by application and names. The key contains a digest, because the names exceed the key limit. */
export interface HourTable<Name extends string = string, Amount extends string = string> {
  readonly target: BulkTarget
  /** Names of a row, with their maximum length. */
  readonly names: Readonly<Record<Name, number>>
  /** Names that identify a row. */
  readonly key: readonly Name[]
  /** Names that only describe a row. */
  readonly details: readonly Name[]
  readonly amounts: Readonly<Record<Amount, Aggregation>>
}

/**
 * Defines a table with the key `application_id`, `hour` and digest.
 *
 * @example
 * defineHourTable({
 *   table: 'faultboard_request_guard_hours',
 *   names: { kind: 16, rule: 255 },
 *   amounts: { count: 'add' },
 * })
 */
export function defineHourTable<
  Table extends HourTableName,
  Name extends ColumnName<Table>,
  Amount extends ColumnName<Table>,
>({
  table,
  names,
  details = [],
  amounts,
}: {
  table: Table
  names: Readonly<Record<Name, number>>
  /** Names that are not part of the key. A row keeps the newest value. */
  details?: readonly Name[]
  amounts: Readonly<Record<Amount, Aggregation>>
}): HourTable<Name, Amount> {
  const all = Object.keys(names) as Name[]
  const primaryKey = tableDefinition(table).key as readonly ColumnName<Table>[]
  const updates = Object.entries(amounts) as [Amount, Aggregation][]
  return {
    names,
    key: all.filter((name) => !details.includes(name)),
    details,
    amounts,
    target: bulkTarget(table, [...primaryKey, ...all, ...updates.map(([column]) => column)], {
      onConflict: {
        update: [
          ...details.map((column) => ({ column, by: 'replace' as const })),
          ...updates.map(([column, by]) => ({ column, by })),
        ],
      },
    }),
  }
}

/** Cleans and truncates names, so that every database accepts them. */
export function truncateNames<Name extends string>(
  { names }: HourTable<Name>,
  untruncatedNames: Readonly<Record<Name, string>>,
): Record<Name, string> {
  const truncated = {} as Record<Name, string>
  for (const name in names) truncated[name] = cleanText(untruncatedNames[name], names[name])
  return truncated
}

/** Returns a digest of the names that identify a row. Deterministic, so that all processes share the row. */
export function namesDigest<Name extends string>(
  { key }: HourTable<Name>,
  names: Readonly<Record<Name, string>>,
): string {
  return hash('sha256', JSON.stringify(key.map((name) => names[name])))
}

export function aggregate(by: Aggregation, a: number, b: number): number {
  switch (by) {
    case 'add':
      return a + b
    case 'greatest':
      return Math.max(a, b)
    case 'least':
      return Math.min(a, b)
  }
}
