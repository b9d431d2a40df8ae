import { createHash } from 'node:crypto'
import { cleanText } from '../../model/text.js'
import type { BulkTarget, BulkUpdate } from '../dialect.js'
import type { Schema } from '../schema.js'

/** How two counts of the same thing in the same hour become one. */
export type Joined = 'add' | 'greatest' | 'least'

/** A table of sums per application, hour and names; a digest stands for the names, which are longer than a key may be. */
export interface HourTable<Name extends string = string, Amount extends string = string> {
  readonly target: BulkTarget
  /** The names of a row, and how long each may be. */
  readonly names: Readonly<Record<Name, number>>
  /** Those of them that make it another row, and those that are only told with it. */
  readonly key: readonly Name[]
  readonly beside: readonly Name[]
  readonly amounts: Readonly<Record<Amount, Joined>>
}

/**
 * Describes such a table. It has `application_id`, `hour` and the digest as its key.
 *
 * @example
 * hourTable({
 *   table: 'faultboard_request_guard_hours',
 *   digest: 'event_digest',
 *   names: { kind: 16, rule: 255 },
 *   amounts: { count: 'add' },
 * })
 */
export function hourTable<Name extends string, Amount extends string>({
  table,
  digest,
  names,
  beside = [],
  amounts,
}: {
  table: keyof Schema
  digest: string
  names: Readonly<Record<Name, number>>
  /** Names that are told with a row and make no other of it: the newest stays. */
  beside?: readonly Name[]
  amounts: Readonly<Record<Amount, Joined>>
}): HourTable<Name, Amount> {
  const all = Object.keys(names) as Name[]
  const update: BulkUpdate[] = [
    ...beside.map((column) => ({ column, by: 'replace' as const })),
    ...Object.entries<Joined>(amounts).map(([column, by]) => ({ column, by })),
  ]
  return {
    names,
    key: all.filter((name) => !beside.includes(name)),
    beside,
    amounts,
    target: {
      table,
      columns: [
        ...['application_id', 'hour'].map((name) => ({ name, type: 'integer' as const })),
        ...[digest, ...all].map((name) => ({ name, type: 'text' as const })),
        ...Object.keys(amounts).map((name) => ({ name, type: 'integer' as const })),
      ],
      on_conflict: { key: ['application_id', 'hour', digest], update },
    },
  }
}

/** The names as every database takes them. */
export function fitting<Name extends string>(
  { names }: HourTable<Name>,
  given: Readonly<Record<Name, string>>,
): Record<Name, string> {
  const fitted = {} as Record<Name, string>
  for (const name in names) fitted[name] = cleanText(given[name], names[name])
  return fitted
}

/** The same in every process, so that they all count in one row. */
export function digestOf<Name extends string>({ key }: HourTable<Name>, names: Readonly<Record<Name, string>>): string {
  return createHash('sha256')
    .update(JSON.stringify(key.map((name) => names[name])))
    .digest('hex')
}

export function joined(by: Joined, one: number, other: number): number {
  switch (by) {
    case 'add':
      return one + other
    case 'greatest':
      return Math.max(one, other)
    case 'least':
      return Math.min(one, other)
  }
}
