import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { firstHourFrom, startOfDay, startOfUtcDay } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { errorsInScope, sumsInScope } from '../sums/scope-conditions.js'
import { byDeviation, deviationsAbove, isAboveBaseline, MIN_SPIKE_COUNT } from './baseline-statistics.js'
import type { Spike } from './spiking-errors.js'

const MAX_CANDIDATES = 60
const CANDIDATES_PER_QUERY = 10

/**
 * Error types with more occurrences today than their daily baseline, sorted by deviation. Compares the unfinished day
 * with complete days, so each count is a lower bound. Null when there are no baselines.
 */
export async function aboveBaselineToday(context: Context, scope: Scope, limit: number): Promise<Spike[] | null> {
  const { now, config } = context
  const today = firstHourFrom(startOfDay(now(), config.time_zone))
  const candidates = await findCandidates(context, scope, today)
  const spikes: Spike[] = []
  for (let i = 0; i < candidates.length; i += CANDIDATES_PER_QUERY) {
    const batch = candidates.slice(i, i + CANDIDATES_PER_QUERY)
    const counts = await countToday(context, scope, today, [...new Set(batch.map(({ error_type }) => error_type))])
    for (const { baseline, ...typeOnPlatform } of batch) {
      const count = counts.get(baselineKey(typeOnPlatform)) ?? 0
      if (!isAboveBaseline(baseline, count, config.baseline_alert_threshold_std_devs)) continue
      const deviations = deviationsAbove(baseline, count)
      spikes.push({ ...typeOnPlatform, count, mean: baseline.mean, std_dev: baseline.std_dev, deviations })
    }
  }
  if (spikes.length === 0 && !(await hasBaselines(context))) return null
  return spikes.sort(byDeviation).slice(0, limit)
}

export async function hasBaselines({ database }: Context): Promise<boolean> {
  const first = await database.read.selectFrom('faultboard_baselines').select('id').limit(1).executeTakeFirst()
  return first !== undefined
}

interface TypeOnPlatform {
  application_id: number
  environment: string
  error_type: string
  platform: string
}

function baselineKey({ application_id, environment, error_type, platform }: TypeOnPlatform): string {
  return `${application_id}\n${environment}\n${platform}\n${error_type}`
}

/**
 * Preselects types whose total across platforms exceeds a baseline in the UTC days that overlap today. Only these few
 * types are counted exactly.
 */
async function findCandidates(context: Context, scope: Scope, today: number) {
  const { database, config, now } = context
  const isInScope = await sumsInScope(context, scope, 'd')
  const threshold = config.baseline_alert_threshold_std_devs
  const count = sql<number>`sum(${sql.ref('d.count')})`
  const alertLimit = sql<number>`${sql.ref('b.mean')} + ${threshold} * ${sql.ref('b.std_dev')}`
  const rows = await database.read
    .selectFrom('faultboard_type_days as d')
    .innerJoin('faultboard_baselines as b', (join) =>
      join
        .onRef('b.application_id', '=', 'd.application_id')
        .onRef('b.environment', '=', 'd.environment')
        .onRef('b.error_type', '=', 'd.error_type')
        .on('b.granularity', '=', 'day'),
    )
    .select(['b.application_id', 'b.environment', 'b.error_type', 'b.platform', 'b.mean', 'b.std_dev'])
    .where(isInScope)
    .where('d.day', '>=', startOfUtcDay(today))
    .where('d.day', '<=', startOfUtcDay(now()))
    .groupBy(['b.application_id', 'b.environment', 'b.error_type', 'b.platform', 'b.mean', 'b.std_dev'])
    .having(count, '>=', MIN_SPIKE_COUNT)
    .having(sql<boolean>`${count} > ${alertLimit}`)
    .orderBy(sql`${count} - (${alertLimit})`, 'desc')
    .limit(MAX_CANDIDATES)
    .execute()
  return rows.map(({ mean, std_dev, ...typeOnPlatform }) => ({
    ...typeOnPlatform,
    baseline: { mean: Number(mean), std_dev: Number(std_dev) },
  }))
}

async function countToday(
  context: Context,
  scope: Scope,
  today: number,
  types: readonly string[],
): Promise<Map<string, number>> {
  const rows = await context.database.read
    .selectFrom('faultboard_errors as e')
    .innerJoin('faultboard_error_hours as h', 'h.error_id', 'e.id')
    .select(['e.application_id', 'e.environment', 'e.error_type', 'h.platform'])
    .select(({ fn }) => fn.sum<number>('h.count').as('count'))
    .where('e.error_type', 'in', types)
    .where('e.occurred_at', '>=', today)
    .where('h.hour', '>=', today)
    .where(errorsInScope(context, scope, { table: 'e', usesIndex: true }))
    .groupBy(['e.application_id', 'e.environment', 'e.error_type', 'h.platform'])
    .execute()
  return new Map(rows.map(({ count, ...typeOnPlatform }) => [baselineKey(typeOnPlatform), count]))
}
