import type { Context } from '../../context.js'
import { DAY, firstHourFrom } from '../../model/time.js'
import { type RawBuilder, type SelectQueryBuilder, sql } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { askedApplications, hoursOf } from './application-filter.js'
import { afterCuts } from './cut-hours.js'

/** What sums may be told apart by. */
export type Dimension = 'severity' | 'platform' | 'app_version'

export interface SumsInput {
  application_id: number | undefined
  /** Ascending instants; the last span has no end. */
  cuts: readonly number[]
  by: readonly Dimension[]
}

/** The values of the dimensions, and how often they occurred between one cut and the next: as many numbers as cuts. */
export interface Series {
  values: string[]
  counts: number[]
}

/** A host may have any number of versions: of more than so many sums the smallest are left out. */
const MOST_ROWS = 2000

/** How often anything occurred in the hours that begin between one instant and the next, told apart by some dimensions. */
export async function sumsBetween(context: Context, input: SumsInput): Promise<Series[]> {
  const { cuts, by } = input
  const series = new Map<string, Series>()
  for (const row of await inWholeHours(context, input)) {
    const values = by.map((column) => row[column])
    const key = JSON.stringify(values)
    const one = series.get(key) ?? { values, counts: new Array<number>(cuts.length).fill(0) }
    series.set(key, one)
    one.counts[Number(row.span)] = Number(row.count)
  }
  return [...series.values()]
}

interface SinceInput {
  application_id: number | undefined
  /** Some of the cuts. */
  instants: readonly number[]
  cuts: readonly number[]
  /** What occurred between the cuts. */
  sums: readonly Series[]
}

/** How often anything occurred since each instant, to the millisecond: also where one lies inside an hour. */
export async function sinceEach(context: Context, { application_id, instants, cuts, sums }: SinceInput) {
  const inside = await afterCuts(context, application_id, instants)
  const since = new Map<number, number>()
  let total = 0
  for (const [span, cut] of [...cuts.entries()].reverse()) {
    for (const { counts } of sums) total += counts[span] ?? 0
    since.set(cut, total + (inside.get(cut) ?? 0))
  }
  return since
}

async function inWholeHours(context: Context, input: SumsInput) {
  const applications = await askedApplications(context, input)
  const ofHours = await hoursOf(context, input.application_id)
  const parts = stretchesOf(input.cuts).map(({ from, to, in_days }) => {
    const sums = in_days ? daysBetween(context, applications, input.by) : hoursBetween(context, ofHours, input.by)
    return spansOf(context, sums({ from, to }), input)
  })
  return (await Promise.all(parts)).flat()
}

interface Stretch {
  from: number
  /** Null has no end. */
  to: number | null
  in_days: boolean
}

/** Neighbouring spans together, as long as all of them are whole days of UTC, of which there are sums, or none is. */
function stretchesOf(cuts: readonly number[]): Stretch[] {
  const stretches: Stretch[] = []
  const hours = cuts.map(firstHourFrom)
  for (const [i, from] of hours.entries()) {
    const to = hours[i + 1] ?? null
    const in_days = from % DAY === 0 && (to ?? 0) % DAY === 0
    const last = stretches.at(-1)
    if (last?.in_days === in_days) last.to = to
    else stretches.push({ from, to, in_days })
  }
  return stretches
}

type Sums = SelectQueryBuilder<Schema, never, { hour: number; count: number } & Record<Dimension, string>>

/** Summed per hour first, in the order of an index; only these few sums are then looked up among the spans. */
function hoursBetween(
  { database }: Context,
  ofApplication: Awaited<ReturnType<typeof hoursOf>>,
  by: readonly Dimension[],
) {
  return ({ from, to }: Pick<Stretch, 'from' | 'to'>): Sums =>
    database.read
      .selectFrom('faultboard_application_hours')
      .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
      .select([...by])
      .where('hour', '>=', from)
      .$if(to !== null, (query) => query.where('hour', '<', to ?? 0))
      .where(ofApplication)
      .groupBy(['hour', ...by]) as unknown as Sums
}

function daysBetween({ database }: Context, applications: readonly number[], by: readonly Dimension[]) {
  return ({ from, to }: Pick<Stretch, 'from' | 'to'>): Sums =>
    database.read
      .selectFrom('faultboard_application_days')
      .select(({ fn }) => ['day as hour', fn.sum<number>('count').as('count')])
      .select([...by])
      .where('application_id', 'in', applications)
      .where('day', '>=', from)
      .$if(to !== null, (query) => query.where('day', '<', to ?? 0))
      .groupBy(['day', ...by]) as unknown as Sums
}

async function spansOf({ database }: Context, sums: Sums, { cuts, by }: SumsInput) {
  return database.read
    .selectFrom(sums.as('hours'))
    .select(({ fn }) => [spanAmong(cuts, 0).as('span'), fn.sum<number>('count').as('count')])
    .select([...by])
    .groupBy(['span', ...by])
    .orderBy('count', 'desc')
    .limit(MOST_ROWS)
    .execute()
}

/** The number of the span that an hour is in, found by halves: a month has many, and every sum is looked up. */
function spanAmong(cuts: readonly number[], first: number): RawBuilder<number> {
  if (cuts.length <= 1) return sql<number>`${sql.lit(first)}`
  const half = Math.ceil(cuts.length / 2)
  const [earlier, later] = [spanAmong(cuts.slice(0, half), first), spanAmong(cuts.slice(half), first + half)]
  return sql<number>`case when ${sql.ref('hour')} >= ${firstHourFrom(cuts[half] ?? 0)} then ${later} else ${earlier} end`
}
