import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { DAY, firstHourFrom } from '../../model/time.js'
import { type RawBuilder, type SelectQueryBuilder, sql } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { countAfterCuts } from './partial-hours.js'
import { hoursInScope, sumsInScope } from './scope-conditions.js'

/** Columns to group sums by. */
export type Dimension = 'application_id' | 'severity' | 'platform' | 'app_version'

export interface SumsInput extends Scope {
  /** Ascending instants. The last span is open-ended. */
  cuts: readonly number[]
  by: readonly Dimension[]
}

/** Values of the dimensions, and the occurrences between consecutive cuts: one count per cut. */
export interface Series {
  values: string[]
  counts: number[]
}

/** Maximum number of rows. Drops the smallest sums, because the number of versions is unbounded. */
const MAX_ROWS = 2000

/** Occurrences in the hours between consecutive cuts, grouped by dimensions. */
export async function sumsBetween(context: Context, input: SumsInput): Promise<Series[]> {
  const { cuts, by } = input
  const series = new Map<string, Series>()
  for (const row of await sumWholeHours(context, input)) {
    const values = by.map((column) => String(row[column]))
    const key = JSON.stringify(values)
    const entry = series.get(key) ?? { values, counts: new Array<number>(cuts.length).fill(0) }
    series.set(key, entry)
    entry.counts[Number(row.span)] = Number(row.count)
  }
  return [...series.values()]
}

interface SinceInput {
  scope: Scope
  /** Subset of the cuts. */
  instants: readonly number[]
  cuts: readonly number[]
  /** Occurrences between the cuts. */
  sums: readonly Series[]
}

/** Occurrences since each instant, exact even within an hour. */
export async function countSinceEach(context: Context, { scope, instants, cuts, sums }: SinceInput) {
  const inside = await countAfterCuts(context, scope, instants)
  const since = new Map<number, number>()
  let total = 0
  for (const [span, cut] of [...cuts.entries()].reverse()) {
    for (const { counts } of sums) total += counts[span] ?? 0
    since.set(cut, total + (inside.get(cut) ?? 0))
  }
  return since
}

async function sumWholeHours(context: Context, input: SumsInput) {
  const [daysCondition, hoursCondition] = [await sumsInScope(context, input), await hoursInScope(context, input)]
  const { cuts, by } = input
  const parts = mergeSpans(cuts).map(({ from, to, usesDays, first, end }) => {
    const sums = usesDays ? daysBetween(context, daysCondition, by) : hoursBetween(context, hoursCondition, by)
    return sumBySpan(context, sums({ from, to }), { span: spanIndex(cuts.slice(first, end), first), by })
  })
  return (await Promise.all(parts)).flat()
}

interface MergedSpan {
  from: number
  /** Null for an open end. */
  to: number | null
  usesDays: boolean
  /** Index of the first merged span, and of the span after the last merged span. */
  first: number
  end: number
}

/** Merges adjacent spans that can all be read from daily sums, or all from hourly sums. */
function mergeSpans(cuts: readonly number[]): MergedSpan[] {
  const mergedSpans: MergedSpan[] = []
  const hours = cuts.map(firstHourFrom)
  for (const [i, from] of hours.entries()) {
    const to = hours[i + 1] ?? null
    const usesDays = from % DAY === 0 && (to ?? 0) % DAY === 0
    const last = mergedSpans.at(-1)
    if (last?.usesDays === usesDays) Object.assign(last, { to, end: i + 1 })
    else mergedSpans.push({ from, to, usesDays, first: i, end: i + 1 })
  }
  return mergedSpans
}

type Sums = SelectQueryBuilder<Schema, never, { hour: number; count: number } & Record<Dimension, string>>

/** Sums per hour first, in index order, so that only a few sums have to be assigned to spans. */
function hoursBetween({ database }: Context, isInScope: RawBuilder<boolean>, by: readonly Dimension[]) {
  return ({ from, to }: Pick<MergedSpan, 'from' | 'to'>): Sums =>
    database.read
      .selectFrom('faultboard_application_hours')
      .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
      .select([...by])
      .where('hour', '>=', from)
      .$if(to !== null, (query) => query.where('hour', '<', to ?? 0))
      .where(isInScope)
      .groupBy(['hour', ...by]) as unknown as Sums
}

function daysBetween({ database }: Context, isInScope: RawBuilder<boolean>, by: readonly Dimension[]) {
  return ({ from, to }: Pick<MergedSpan, 'from' | 'to'>): Sums =>
    database.read
      .selectFrom('faultboard_application_days')
      .select(({ fn }) => ['day as hour', fn.sum<number>('count').as('count')])
      .select([...by])
      .where(isInScope)
      .where('day', '>=', from)
      .$if(to !== null, (query) => query.where('day', '<', to ?? 0))
      // The primary key begins with these columns and `severity`, so that SQLite sorts only for `platform` or `app_version`.
      .groupBy([...new Set<Dimension | 'day'>(['application_id', 'day', ...by])]) as unknown as Sums
}

async function sumBySpan(
  { database }: Context,
  sums: Sums,
  { span, by }: { span: RawBuilder<number>; by: readonly Dimension[] },
) {
  return database.read
    .selectFrom(sums.as('hours'))
    .select(({ fn }) => [span.as('span'), fn.sum<number>('count').as('count')])
    .select([...by])
    .groupBy(['span', ...by])
    .orderBy('count', 'desc')
    .limit(MAX_ROWS)
    .execute()
}

/** SQL expression that maps an hour to the index of its span. Uses binary search, because a month has many spans. */
function spanIndex(cuts: readonly number[], first: number): RawBuilder<number> {
  if (cuts.length <= 1) return sql<number>`${sql.lit(first)}`
  const half = Math.ceil(cuts.length / 2)
  const [earlier, later] = [spanIndex(cuts.slice(0, half), first), spanIndex(cuts.slice(half), first + half)]
  return sql<number>`case when ${sql.ref('hour')} >= ${firstHourFrom(cuts[half] ?? 0)} then ${later} else ${earlier} end`
}
