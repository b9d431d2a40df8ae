import type { Context } from '../context.js'
import { HOUR, hourOf } from '../model/time.js'
import { type RawBuilder, sql } from '../store/kysely.js'
import { hoursOf } from './application-filter.js'
import { afterCuts, type Dimension, partKey } from './cut-hours.js'

export interface SumsInput {
  application_id: number | undefined
  /** Ascending instants; the last span has no end. */
  cuts: readonly number[]
  by: readonly Dimension[]
  /** Those of the cuts since which only the total of everything is wanted, which is told sooner. */
  for_totals?: ReadonlySet<number>
}

/** The values of the dimensions, and how often they occurred between one cut and the next: as many numbers as cuts. */
export interface Series {
  values: string[]
  counts: number[]
}

/** A host may have any number of versions: of more than so many sums the smallest are left out. */
const MOST_ROWS = 2000

/** How often anything occurred between one instant and the next, told apart by some dimensions. */
export async function sumsBetween(context: Context, input: SumsInput): Promise<Series[]> {
  const { application_id, cuts, by, for_totals = new Set() } = input
  const series = new Map<string, number[]>()
  const add = (part: string, span: number, count: number) => {
    const counts = series.get(part) ?? new Array<number>(cuts.length).fill(0)
    series.set(part, counts)
    if (span in counts) counts[span] = (counts[span] ?? 0) + count
  }
  for (const row of await inWholeHours(context, input)) {
    add(partKey(by.map((column) => row[column])), Number(row.span), Number(row.count))
  }
  const isForTotals = (cut: number) => for_totals.has(cut)
  const after = new Map([
    ...(await afterCuts(
      context,
      application_id,
      cuts.filter((cut) => !isForTotals(cut)),
      by,
    )),
    ...(await afterCuts(context, application_id, cuts.filter(isForTotals), [])),
  ])
  for (const [span, cut] of cuts.entries()) {
    for (const [part, count] of after.get(cut) ?? []) {
      // The hour that is cut was counted with the span before.
      add(part, span - 1, -count)
      add(part, span, count)
    }
  }
  return [...series].map(([part, counts]) => ({ values: JSON.parse(part) as string[], counts }))
}

/** How often anything occurred since each cut, whatever it is told apart by. */
export function sinceEachCut(series: readonly Series[], cuts: readonly number[]): Map<number, number> {
  const since = new Map<number, number>()
  let total = 0
  for (const [span, cut] of [...cuts.entries()].reverse()) {
    for (const { counts } of series) total += counts[span] ?? 0
    since.set(cut, total)
  }
  return since
}

async function inWholeHours(context: Context, { application_id, cuts, by }: SumsInput) {
  // Summed per hour first, in the order of an index; only these few sums are then looked up among the spans.
  const hours = context.database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .select([...by])
    .where('hour', '>=', firstWholeHour(cuts[0] ?? 0))
    .where(await hoursOf(context, application_id))
    .groupBy(['hour', ...by])
  return context.database.read
    .selectFrom(hours.as('hours'))
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
  return sql<number>`case when ${sql.ref('hour')} >= ${firstWholeHour(cuts[half] ?? 0)} then ${later} else ${earlier} end`
}

function firstWholeHour(time: number): number {
  return hourOf(time + HOUR - 1)
}
