import type { Context } from '../../context.js'
import { SEVERITIES, type Severity } from '../../model/severity.js'
import { HOUR, hourOf } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { packedRows } from '../../store/packed-rows.js'
import { gravity } from '../gravity.js'
import { deviationsAbove, furthestAbove, isAbove, MIN_SPIKE_COUNT } from './baseline-statistics.js'

/** An error type that exceeds its hourly baseline. */
export interface Spike {
  application_id: number
  error_type: string
  platform: string
  /** Occurrences within the hour; a lower bound while the hour is running. */
  count: number
  usual: number
  std_dev: number
  /** Standard deviations above the baseline; null for a baseline without any occurrence. */
  deviations: number | null
}

const MOST = 20

/** Error types that exceed their baseline in the running hour. */
export async function spikingErrors(context: Context, application_id: number | undefined): Promise<Spike[]> {
  const spikes = await spikesOfHour(context, hourOf(context.now()), { application_id })
  return spikes.slice(0, MOST).map(({ severity, ...spike }) => spike)
}

/** A spike with the highest severity of its type and platform within the hour. */
export interface GradedSpike extends Spike {
  severity: Severity
}

/** Spikes of the hour that starts at `hour`, without muted, snoozed and permanently closed errors. */
export async function audibleSpikes(
  context: Context,
  application_id?: number,
  hour = hourOf(context.now()),
): Promise<GradedSpike[]> {
  return spikesOfHour(context, hour, { application_id, audible: true })
}

interface SpikeQuestion {
  application_id?: number | undefined
  /** Excludes muted, snoozed and permanently closed errors. */
  audible?: boolean
}

async function spikesOfHour(context: Context, hour: number, question: SpikeQuestion): Promise<GradedSpike[]> {
  const sums = (await sumsOfHour(context, hour, question)).filter(({ count }) => count >= MIN_SPIKE_COUNT)
  const baselines = await baselinesOf(context, sums)
  return sums
    .flatMap(({ gravest, ...sum }) => {
      const usual = baselines.get(keyOf(sum))
      if (!usual || !isAbove(usual, sum.count, context.config.baseline_alert_threshold_std_devs)) return []
      const deviations = deviationsAbove(usual, sum.count)
      const severity = SEVERITIES[gravest] ?? 'low'
      return [{ ...sum, usual: usual.mean, std_dev: usual.std_dev, deviations, severity }]
    })
    .sort(furthestAbove)
}

interface TypeSum {
  application_id: number
  error_type: string
  platform: string
  count: number
  /** The place of its gravest severity among all. */
  gravest: number
}

const keyOf = (one: Pick<TypeSum, 'application_id' | 'error_type' | 'platform'>) =>
  JSON.stringify([one.application_id, one.error_type, one.platform])

/** Looks up the errors of the hour in a second query: a join would read every error. */
async function sumsOfHour(context: Context, hour: number, question: SpikeQuestion): Promise<TypeSum[]> {
  const { database } = context
  const query = database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['error_id', 'platform', fn.sum<number>('count').as('count')])
    .select(sql<number>`min(${gravity('severity')})`.as('gravest'))
    .where('hour', '>=', hour)
    .where('hour', '<', hour + HOUR)
    .groupBy(['error_id', 'platform'])
  const rows = await packedRows(database, query, ['error_id', 'platform', 'count', 'gravest'])
  const errors = await typesOf(context, [...new Set(rows.map(({ error_id }) => error_id))], question)
  const sums = new Map<string, TypeSum>()
  for (const { error_id, platform, ...row } of rows) {
    const type = errors.get(error_id)
    if (!type) continue
    const [count, gravest] = [Number(row.count), Number(row.gravest)]
    const known = sums.get(keyOf({ ...type, platform }))
    if (!known) sums.set(keyOf({ ...type, platform }), { ...type, platform, count, gravest })
    else {
      known.count += count
      known.gravest = Math.min(known.gravest, gravest)
    }
  }
  return [...sums.values()]
}

const LOOKED_UP = 500

async function typesOf(
  { database, now }: Context,
  ids: readonly number[],
  { application_id, audible = false }: SpikeQuestion,
): Promise<Map<number, Pick<TypeSum, 'application_id' | 'error_type'>>> {
  const types = new Map<number, Pick<TypeSum, 'application_id' | 'error_type'>>()
  for (let i = 0; i < ids.length; i += LOOKED_UP) {
    const rows = await database.read
      .selectFrom('faultboard_errors')
      .select(['id', 'application_id', 'error_type'])
      .where('id', 'in', ids.slice(i, i + LOOKED_UP))
      .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
      .$if(audible, (query) =>
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

async function baselinesOf(
  { database }: Context,
  sums: readonly TypeSum[],
): Promise<Map<string, { mean: number; std_dev: number }>> {
  const types = [...new Set(sums.map(({ error_type }) => error_type))]
  const applications = [...new Set(sums.map(({ application_id }) => application_id))]
  const usual = new Map<string, { mean: number; std_dev: number }>()
  for (let i = 0; i < types.length; i += LOOKED_UP) {
    const rows = await database.read
      .selectFrom('faultboard_baselines')
      .select(['application_id', 'error_type', 'platform', 'mean', 'std_dev'])
      .where('application_id', 'in', applications)
      .where('error_type', 'in', types.slice(i, i + LOOKED_UP))
      .where('granularity', '=', 'hour')
      .execute()
    for (const { mean, std_dev, ...row } of rows)
      usual.set(keyOf(row), { mean: Number(mean), std_dev: Number(std_dev) })
  }
  return usual
}
