import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { DAY } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import type { RawBuilder } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import type { Span } from './period.js'
import { errorsInScope, sumsInScope } from './scope-conditions.js'
import { type DayParts, splitIntoDays } from './split-into-days.js'

export interface TypeCount {
  error_type: string
  count: number
  /** Number of errors of this type. */
  error_count: number
}

export interface TypeCounts {
  /** Most frequent first. */
  types: TypeCount[]
  /** Occurrences of all types, and the number of types. */
  total: number
  type_count: number
}

/** Number of types to check first; triples each time. */
const FIRST_PAGE_SIZE = 40

/**
 * Most frequent error types of a span. The total count of a type is an upper bound for its count in the span. Types are
 * checked in that order until no other type can reach the top.
 */
export async function typeCounts(context: Context, scope: Scope, span: Span, limit: number): Promise<TypeCounts> {
  const parts = await splitIntoDays(context, scope, span)
  const isInScope = await sumsInScope(context, scope)
  const all = (await findTypes(context, scope, span)).sort((a, b) => b.occurrences - a.occurrences)
  let types: TypeCount[] = []
  for (let from = 0, size = FIRST_PAGE_SIZE; from < all.length; from += size, size *= 3) {
    if (types.length === limit && (all[from]?.occurrences ?? 0) < (types[limit - 1]?.count ?? 0)) break
    const page = all.slice(from, from + size)
    const counts = await countTypes(
      context,
      isInScope,
      parts,
      page.map(({ error_type }) => error_type),
    )
    const counted = page.map(({ error_type, error_count }) => ({
      error_type,
      count: counts.get(error_type) ?? 0,
      error_count,
    }))
    types = [...types, ...counted.filter(({ count }) => count > 0)].sort(byCount).slice(0, limit)
  }
  return { types, total: await sumTotal(context, isInScope, parts), type_count: all.length }
}

function byCount(a: TypeCount, b: TypeCount): number {
  return b.count - a.count || (a.error_type < b.error_type ? -1 : 1)
}

interface TypeTotal {
  error_type: string
  error_count: number
  /** Number of occurrences since the first occurrence. */
  occurrences: number
}

/**
 * Types seen in the span. An error counts if its newest occurrence lies in the span. Hours are checked only for errors
 * with a newer occurrence.
 */
async function findTypes(context: Context, scope: Scope, { from, to }: Span): Promise<TypeTotal[]> {
  const { database } = context
  const query = database.read
    .selectFrom('faultboard_errors as e')
    .select(({ fn }) => [
      'e.error_type',
      fn.countAll<number>().as('error_count'),
      fn.sum<number>('e.occurrence_count').as('occurrences'),
    ])
    .where(withoutIndex(database.dialect, 'e.occurred_at'), '>=', from)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('e.occurred_at', '<', to),
        exists(
          selectFrom('faultboard_error_hours as h')
            .select('h.hour')
            .whereRef('h.error_id', '=', 'e.id')
            .where('h.hour', '>=', from)
            .where('h.hour', '<', to),
        ),
      ]),
    )
    .where(errorsInScope(context, scope, { table: 'e' }))
    .groupBy('e.error_type')
  return packedRows(database, query, ['error_type', 'error_count', 'occurrences'])
}

async function countTypes(
  context: Context,
  isInScope: RawBuilder<boolean>,
  { days, missing, extra }: DayParts,
  types: readonly string[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const add = (rows: readonly { error_type: string; count: number }[], sign = 1) => {
    for (const { error_type, count } of rows) counts.set(error_type, (counts.get(error_type) ?? 0) + sign * count)
  }
  add(await sumDays(context, isInScope, days, types))
  for (const part of missing) add(await sumHours(context, isInScope, part, types))
  for (const part of extra) add(await sumHours(context, isInScope, part, types), -1)
  return counts
}

async function sumDays(
  { database }: Context,
  isInScope: RawBuilder<boolean>,
  { from, to }: Span,
  types: readonly string[],
) {
  // Lists the days instead of using a range. The database then looks up each type and day in the primary key.
  const days = Array.from({ length: Math.ceil((to - from) / DAY) }, (_, i) => from + i * DAY)
  return database.read
    .selectFrom('faultboard_type_days')
    .select(({ fn }) => ['error_type', fn.sum<number>('count').as('count')])
    .where(isInScope)
    .where('day', 'in', days)
    .where('error_type', 'in', types)
    .groupBy('error_type')
    .execute()
}

async function sumHours(
  { database }: Context,
  isInScope: RawBuilder<boolean>,
  { from, to }: Span,
  types: readonly string[],
) {
  return database.read
    .selectFrom('faultboard_type_hours')
    .select(({ fn }) => ['error_type', fn.sum<number>('count').as('count')])
    .where(isInScope)
    .where('error_type', 'in', types)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy('error_type')
    .execute()
}

async function sumTotal(
  { database }: Context,
  isInScope: RawBuilder<boolean>,
  { days, missing, extra }: DayParts,
): Promise<number> {
  const count = async (query: { executeTakeFirstOrThrow(): Promise<{ count: number | null }> }) =>
    (await query.executeTakeFirstOrThrow()).count ?? 0
  const totalOfHours = ({ from, to }: Span) =>
    count(
      database.read
        .selectFrom('faultboard_application_hours')
        .select(({ fn }) => fn.sum<number>('count').as('count'))
        .where(isInScope)
        .where('hour', '>=', from)
        .where('hour', '<', to),
    )
  let total = await count(
    database.read
      .selectFrom('faultboard_application_days')
      .select(({ fn }) => fn.sum<number>('count').as('count'))
      .where(isInScope)
      .where('day', '>=', days.from)
      .where('day', '<', days.to),
  )
  for (const part of missing) total += await totalOfHours(part)
  for (const part of extra) total -= await totalOfHours(part)
  return total
}
