import { createHash } from 'node:crypto'
import { cleanText } from '../../model/text.js'
import type { BulkTarget, BulkUpdate } from '../dialect.js'
import type { Schema } from '../schema.js'

/** Combines two amounts of the same row. */
export type Aggregation = 'add' | 'greatest' | 'least'

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
 *   digest: 'event_digest',
 *   names: { kind: 16, rule: 255 },
 *   amounts: { count: 'add' },
 * })
 */
export function defineHourTable<Name extends string, Amount extends string>({
  table,
  digest,
  names,
  details = [],
  amounts,
}: {
  table: keyof Schema
  digest: string
  names: Readonly<Record<Name, number>>
  /** Names that are not part of the key. A row keeps the newest value. */
  details?: readonly Name[]
  amounts: Readonly<Record<Amount, Aggregation>>
}): HourTable<Name, Amount> {
  const all = Object.keys(names) as Name[]
  const update: BulkUpdate[] = [
    ...details.map((column) => ({ column, by: 'replace' as const })),
    ...Object.entries<Aggregation>(amounts).map(([column, by]) => ({ column, by })),
  ]
  return {
    names,
    key: all.filter((name) => !details.includes(name)),
    details,
    amounts,
    target: {
      table,
      columns: [
        ...['application_id', 'hour'].map((name) => ({ name, type: 'integer' as const })),
        ...[digest, ...all].map((name) => ({ name, type: 'text' as const })),
        ...Object.keys(amounts).map((name) => ({ name, type: 'integer' as const })),
      ],
      onConflict: { key: ['application_id', 'hour', digest], update },
    },
  }
}

/** Cleans and truncates names, so that every database accepts them. */
export function truncateNames<Name extends string>(
  { names }: HourTable<Name>,
  given: Readonly<Record<Name, string>>,
): Record<Name, string> {
  const fitted = {} as Record<Name, string>
  for (const name in names) fitted[name] = cleanText(given[name], names[name])
  return fitted
}

/** Returns a digest of the names that identify a row. Deterministic, so that all processes share the row. */
export function namesDigest<Name extends string>(
  { key }: HourTable<Name>,
  names: Readonly<Record<Name, string>>,
): string {
  return createHash('sha256')
    .update(JSON.stringify(key.map((name) => names[name])))
    .digest('hex')
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
