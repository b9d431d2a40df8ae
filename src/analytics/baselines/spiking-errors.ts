import type * as v from 'valibot'
import type { Context } from '../../context.js'
import { ALL_ERRORS, type Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { SEVERITIES, type Severity } from '../../model/severity/severity.js'
import { HOUR, startOfHour } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { sql } from '../../store/kysely.js'
import { severityRank } from '../severity-rank.js'
import { errorsInScope } from '../sums/scope-conditions.js'
import { byDeviation, deviationsAbove, isAboveBaseline, MIN_SPIKE_COUNT } from './baseline-statistics.js'

/** An error type that exceeds its hourly baseline. */
export const Spike = r.named(
  'Spike',
  r.object({
    application_id: r.integer,
    environment: r.text,
    error_type: r.text,
    platform: r.text,
    /** Occurrences within the hour; a lower bound while the hour is in progress. */
    count: r.integer,
    mean: r.number,
    std_dev: r.number,
    /** Standard deviations above the baseline; null for a baseline without any occurrence. */
    deviations: r.nullable(r.number),
  }),
)
export type Spike = v.InferOutput<typeof Spike>

const MAX_SPIKES = 20

/** Error types that exceed their baseline in the current hour. */
export async function spikingErrors(context: Context, scope: Scope): Promise<SpikeWithSeverity[]> {
  const spikes = await findSpikes(context, startOfHour(context.now()), { scope })
  return spikes.slice(0, MAX_SPIKES)
}

/** A spike with the highest severity of its type and platform within the hour. */
export interface SpikeWithSeverity extends Spike {
  severity: Severity
  /** Error with the most occurrences within the hour. */
  top_error_id: number
}

/** Spikes of the hour that starts at `hour`, without muted, snoozed and permanently closed errors. */
export async function alertableSpikes(
  context: Context,
  scope: Scope = ALL_ERRORS,
  hour = startOfHour(context.now()),
): Promise<SpikeWithSeverity[]> {
  return findSpikes(context, hour, { scope, onlyAlertable: true })
}

interface SpikeFilter {
  scope: Scope
  onlyAlertable?: boolean
}

async function findSpikes(context: Context, hour: number, filter: SpikeFilter): Promise<SpikeWithSeverity[]> {
  const sums = (await sumHour(context, hour, filter)).filter(({ count }) => count >= MIN_SPIKE_COUNT)
  const baselines = await loadBaselines(context, sums)
  return sums
    .flatMap(({ highestSeverity, topCount, ...sum }) => {
      const baseline = baselines.get(baselineKey(sum))
      if (!baseline || !isAboveBaseline(baseline, sum.count, context.config.baseline_alert_threshold_std_devs))
        return []
      const deviations = deviationsAbove(baseline, sum.count)
      const severity = SEVERITIES[highestSeverity] ?? 'low'
      return [{ ...sum, mean: baseline.mean, std_dev: baseline.std_dev, deviations, severity }]
    })
    .sort(byDeviation)
}

interface TypeSum {
  application_id: number
  environment: string
  error_type: string
  platform: string
  count: number
  /** Index of the highest severity in SEVERITIES. */
  highestSeverity: number
  /** Error with the most occurrences, and its count. */
  top_error_id: number
  topCount: number
}

const baselineKey = (sum: ErrorType & { platform: string }) =>
  JSON.stringify([sum.application_id, sum.environment, sum.error_type, sum.platform])

type ErrorType = Pick<TypeSum, 'application_id' | 'environment' | 'error_type'>

/** Looks up the errors of the hour in a second query, because a join would read every error. */
async function sumHour(context: Context, hour: number, filter: SpikeFilter): Promise<TypeSum[]> {
  const { database } = context
  const query = database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['error_id', 'platform', fn.sum<number>('count').as('count')])
    .select(sql<number>`min(${severityRank('severity')})`.as('severity_rank'))
    .where('hour', '>=', hour)
    .where('hour', '<', hour + HOUR)
    .groupBy(['error_id', 'platform'])
  const rows = await packedRows(database, query, ['error_id', 'platform', 'count', 'severity_rank'])
  const errors = await loadTypes(context, [...new Set(rows.map(({ error_id }) => error_id))], filter)
  const sums = new Map<string, TypeSum>()
  for (const { error_id, platform, ...row } of rows) {
    const type = errors.get(error_id)
    if (!type) continue
    const [count, highestSeverity] = [Number(row.count), Number(row.severity_rank)]
    const key = baselineKey({ ...type, platform })
    const existing = sums.get(key)
    const top = { top_error_id: error_id, topCount: count }
    if (!existing) sums.set(key, { ...type, platform, count, highestSeverity, ...top })
    else {
      existing.count += count
      existing.highestSeverity = Math.min(existing.highestSeverity, highestSeverity)
      if (count > existing.topCount) Object.assign(existing, top)
    }
  }
  return [...sums.values()]
}

const ROWS_PER_QUERY = 500

async function loadTypes(
  context: Context,
  ids: readonly number[],
  { scope, onlyAlertable = false }: SpikeFilter,
): Promise<Map<number, ErrorType>> {
  const { database, now } = context
  const types = new Map<number, ErrorType>()
  for (let i = 0; i < ids.length; i += ROWS_PER_QUERY) {
    const rows = await database.read
      .selectFrom('faultboard_errors')
      .select(['id', 'application_id', 'environment', 'error_type'])
      .where('id', 'in', ids.slice(i, i + ROWS_PER_QUERY))
      .where(errorsInScope(context, scope))
      .$if(onlyAlertable, (query) =>
        query
          .where('status', '!=', 'wont_fix')
          .where(({ eb, or }) => or([eb('snoozed_until', 'is', null), eb('snoozed_until', '<=', now())]))
          .where(({ eb, or }) => or([eb('muted_at', 'is', null), eb('muted_until', '<=', now())])),
      )
      .execute()
    for (const { id, ...type } of rows) types.set(id, type)
  }
  return types
}

async function loadBaselines(
  { database }: Context,
  sums: readonly TypeSum[],
): Promise<Map<string, { mean: number; std_dev: number }>> {
  const types = [...new Set(sums.map(({ error_type }) => error_type))]
  const applications = [...new Set(sums.map(({ application_id }) => application_id))]
  const baselines = new Map<string, { mean: number; std_dev: number }>()
  for (let i = 0; i < types.length; i += ROWS_PER_QUERY) {
    const rows = await database.read
      .selectFrom('faultboard_baselines')
      .select(['application_id', 'environment', 'error_type', 'platform', 'mean', 'std_dev'])
      .where('application_id', 'in', applications)
      .where('error_type', 'in', types.slice(i, i + ROWS_PER_QUERY))
      .where('granularity', '=', 'hour')
      .execute()
    for (const { mean, std_dev, ...row } of rows)
      baselines.set(baselineKey(row), { mean: Number(mean), std_dev: Number(std_dev) })
  }
  return baselines
}
