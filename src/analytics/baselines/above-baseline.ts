import type { Context } from '../../context.js'
import { firstHourFrom, startOfDay } from '../../model/time.js'
import { startOfUtcDay } from '../../model/utc-day.js'
import { sql } from '../../store/kysely.js'
import type { Scope } from '../sums/application-filter.js'
import { askedApplications } from '../sums/application-filter.js'
import { deviationsAbove, furthestAbove, isAbove, MIN_SPIKE_COUNT } from './baseline-statistics.js'
import type { Spike } from './spiking-errors.js'

const MOST_CANDIDATES = 60
const AT_ONCE = 10

/**
 * Types of errors that occurred more often today than is usual for a day, those furthest above it first. The day is
 * compared with whole days, so what it says so far can only be too little. Null while no baselines are kept.
 */
export async function aboveBaselineToday(context: Context, scope: Scope, limit: number): Promise<Spike[] | null> {
  const { now, config } = context
  const today = firstHourFrom(startOfDay(now(), config.time_zone))
  const candidates = await candidatesSince(context, scope, today)
  const found: Spike[] = []
  for (let i = 0; i < candidates.length; i += AT_ONCE) {
    const some = candidates.slice(i, i + AT_ONCE)
    const counts = await countsToday(context, scope, today, [...new Set(some.map(({ error_type }) => error_type))])
    for (const { usual, ...kind } of some) {
      const count = counts.get(keyOf(kind)) ?? 0
      if (!isAbove(usual, count, config.baseline_alert_threshold_std_devs)) continue
      const deviations = deviationsAbove(usual, count)
      found.push({ ...kind, count, usual: usual.mean, std_dev: usual.std_dev, deviations })
    }
  }
  if (found.length === 0 && !(await hasBaselines(context))) return null
  return found.sort(furthestAbove).slice(0, limit)
}

async function hasBaselines({ database }: Context): Promise<boolean> {
  const first = await database.read.selectFrom('faultboard_baselines').select('id').limit(1).executeTakeFirst()
  return first !== undefined
}

interface Kind {
  application_id: number
  error_type: string
  platform: string
}

function keyOf({ application_id, error_type, platform }: Kind): string {
  return `${application_id}\n${platform}\n${error_type}`
}

/**
 * The kinds that may be above: all that occurred of the type, on any platform, in the days of UTC that today touches is
 * more than is usual. Nearly none is left of very many, and only those are counted.
 */
async function candidatesSince(context: Context, scope: Scope, today: number) {
  const { database, config, now } = context
  const ids = await askedApplications(context, scope)
  const threshold = config.baseline_alert_threshold_std_devs
  const count = sql<number>`sum(${sql.ref('d.count')})`
  const usual = sql<number>`${sql.ref('b.mean')} + ${threshold} * ${sql.ref('b.std_dev')}`
  const rows = await database.read
    .selectFrom('faultboard_type_days as d')
    .innerJoin('faultboard_baselines as b', (join) =>
      join
        .onRef('b.application_id', '=', 'd.application_id')
        .onRef('b.error_type', '=', 'd.error_type')
        .on('b.granularity', '=', 'day'),
    )
    .select(['b.application_id', 'b.error_type', 'b.platform', 'b.mean', 'b.std_dev'])
    .where('d.application_id', 'in', ids)
    .where('d.day', '>=', startOfUtcDay(today))
    .where('d.day', '<=', startOfUtcDay(now()))
    .groupBy(['b.application_id', 'b.error_type', 'b.platform', 'b.mean', 'b.std_dev'])
    .having(count, '>=', MIN_SPIKE_COUNT)
    .having(sql<boolean>`${count} > ${usual}`)
    .orderBy(sql`${count} - (${usual})`, 'desc')
    .limit(MOST_CANDIDATES)
    .execute()
  return rows.map(({ mean, std_dev, ...kind }) => ({
    ...kind,
    usual: { mean: Number(mean), std_dev: Number(std_dev) },
  }))
}

async function countsToday(
  { database }: Context,
  { application_id }: Scope,
  today: number,
  types: readonly string[],
): Promise<Map<string, number>> {
  const rows = await database.read
    .selectFrom('faultboard_errors as e')
    .innerJoin('faultboard_error_hours as h', 'h.error_id', 'e.id')
    .select(({ fn }) => ['e.application_id', 'e.error_type', 'h.platform', fn.sum<number>('h.count').as('count')])
    .where('e.error_type', 'in', types)
    .where('e.occurred_at', '>=', today)
    .where('h.hour', '>=', today)
    .$if(application_id !== undefined, (query) => query.where('e.application_id', '=', application_id ?? 0))
    .groupBy(['e.application_id', 'e.error_type', 'h.platform'])
    .execute()
  return new Map(rows.map(({ count, ...kind }) => [keyOf(kind), count]))
}
