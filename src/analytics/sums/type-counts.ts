import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'
import { packedRows } from '../../store/packed-rows.js'
import { withoutIndex } from '../../store/sort-order.js'
import type { Scope } from './application-filter.js'
import { askedApplications } from './application-filter.js'
import { type DayParts, dayParts } from './day-parts.js'
import type { Span } from './period.js'

export interface TypeCount {
  error_type: string
  count: number
  /** How many errors of this type there were. */
  error_count: number
}

export interface TypeCounts {
  /** The most frequent first. */
  types: TypeCount[]
  /** Occurrences of all types, and how many types there were. */
  total: number
  type_count: number
}

/** So many types are looked at first; each time thrice as many. */
const FEWEST = 40

/**
 * The most frequent error types of a span. No type occurred more often in it than ever, so the types are looked at in the
 * order of all their occurrences, until none that is left can come among the first.
 */
export async function typeCounts(context: Context, scope: Scope, span: Span, limit: number): Promise<TypeCounts> {
  const parts = await dayParts(context, scope, span)
  const ids = await askedApplications(context, scope)
  const all = (await typesIn(context, scope, span)).sort((a, b) => b.occurrences - a.occurrences)
  let types: TypeCount[] = []
  for (let from = 0, size = FEWEST; from < all.length; from += size, size *= 3) {
    if (types.length === limit && (all[from]?.occurrences ?? 0) < (types[limit - 1]?.count ?? 0)) break
    const some = all.slice(from, from + size)
    const counts = await countsOf(
      context,
      ids,
      parts,
      some.map(({ error_type }) => error_type),
    )
    const counted = some.map(({ error_type, error_count }) => ({
      error_type,
      count: counts.get(error_type) ?? 0,
      error_count,
    }))
    types = [...types, ...counted.filter(({ count }) => count > 0)].sort(byCount).slice(0, limit)
  }
  return { types, total: await totalOf(context, ids, parts), type_count: all.length }
}

function byCount(a: TypeCount, b: TypeCount): number {
  return b.count - a.count || (a.error_type < b.error_type ? -1 : 1)
}

interface TypeEver {
  error_type: string
  error_count: number
  /** At any time. */
  occurrences: number
}

/**
 * The types that were met in the span. An error was met when its newest occurrence lies there; only one that is newer
 * still is asked for more.
 */
async function typesIn({ database }: Context, { application_id }: Scope, { from, to }: Span): Promise<TypeEver[]> {
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
    .$if(application_id !== undefined, (query) =>
      query.where(withoutIndex(database.dialect, 'e.application_id'), '=', application_id ?? 0),
    )
    .groupBy('e.error_type')
  return packedRows(database, query, ['error_type', 'error_count', 'occurrences'])
}

async function countsOf(
  context: Context,
  ids: readonly number[],
  { days, missing, too_many }: DayParts,
  types: readonly string[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const add = (rows: readonly { error_type: string; count: number }[], sign = 1) => {
    for (const { error_type, count } of rows) counts.set(error_type, (counts.get(error_type) ?? 0) + sign * count)
  }
  add(await inDays(context, ids, days, types))
  for (const part of missing) add(await inHours(context, ids, part, types))
  for (const part of too_many) add(await inHours(context, ids, part, types), -1)
  return counts
}

async function inDays({ database }: Context, ids: readonly number[], { from, to }: Span, types: readonly string[]) {
  // Day by day, so that each of the few types is looked up by the key and the others are not read.
  const days = Array.from({ length: Math.ceil((to - from) / DAY) }, (_, i) => from + i * DAY)
  return database.read
    .selectFrom('faultboard_type_days')
    .select(({ fn }) => ['error_type', fn.sum<number>('count').as('count')])
    .where('application_id', 'in', ids)
    .where('day', 'in', days)
    .where('error_type', 'in', types)
    .groupBy('error_type')
    .execute()
}

async function inHours({ database }: Context, ids: readonly number[], { from, to }: Span, types: readonly string[]) {
  return database.read
    .selectFrom('faultboard_type_hours')
    .select(({ fn }) => ['error_type', fn.sum<number>('count').as('count')])
    .where('application_id', 'in', ids)
    .where('error_type', 'in', types)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy('error_type')
    .execute()
}

async function totalOf(
  { database }: Context,
  ids: readonly number[],
  { days, missing, too_many }: DayParts,
): Promise<number> {
  const count = async (query: { executeTakeFirstOrThrow(): Promise<{ count: number | null }> }) =>
    (await query.executeTakeFirstOrThrow()).count ?? 0
  const inHours = ({ from, to }: Span) =>
    count(
      database.read
        .selectFrom('faultboard_application_hours')
        .select(({ fn }) => fn.sum<number>('count').as('count'))
        .where('application_id', 'in', ids)
        .where('hour', '>=', from)
        .where('hour', '<', to),
    )
  let total = await count(
    database.read
      .selectFrom('faultboard_application_days')
      .select(({ fn }) => fn.sum<number>('count').as('count'))
      .where('application_id', 'in', ids)
      .where('day', '>=', days.from)
      .where('day', '<', days.to),
  )
  for (const part of missing) total += await inHours(part)
  for (const part of too_many) total -= await inHours(part)
  return total
}
