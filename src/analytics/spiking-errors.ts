import type { Context } from '../context.js'
import { SEVERITIES, type Severity } from '../model/severity.js'
import { HOUR, hourOf } from '../model/time.js'
import { sql } from '../store/kysely.js'
import { deviationsAbove } from './baseline-statistics.js'
import { gravity } from './gravity.js'

/** A type of error that comes more often in this hour than is usual for it. */
export interface Spike {
  application_id: number
  error_type: string
  platform: string
  /** Occurrences in this hour so far. */
  count: number
  usual: number
  std_dev: number
  /** How many standard deviations that is above what is usual; null where it was always the same until now. */
  deviations: number | null
}

const MOST = 20
/** One or two of a type that hardly ever comes are many deviations, and yet nothing to look at. */
const LEAST = 5

/** What comes more often than is usual, and often enough to be looked at. */
export async function spikingErrors(context: Context, application_id: number | undefined): Promise<Spike[]> {
  const spikes = await spikesOfThisHour(context, { application_id, least: LEAST })
  return spikes.slice(0, MOST).map(({ severity, ...spike }) => spike)
}

/** A spike with the gravest severity with which errors of its type occurred on the platform in this hour. */
export interface GradedSpike extends Spike {
  severity: Severity
}

/** What people may be told of: all that comes more often than is usual, but for errors nobody wants to hear of. */
export async function audibleSpikes(context: Context, application_id?: number): Promise<GradedSpike[]> {
  return spikesOfThisHour(context, { application_id, least: 1, audible: true })
}

interface SpikeQuestion {
  application_id?: number | undefined
  least: number
  /** Leaves out what is muted, snoozed or closed for good. */
  audible?: boolean
}

/** Of the hour that is running: it is compared with whole hours, so what it says so far can only be too little. */
async function spikesOfThisHour(
  { database, now, config }: Context,
  { application_id, least, audible = false }: SpikeQuestion,
): Promise<GradedSpike[]> {
  const hour = hourOf(now())
  const rows = await database.read
    .selectFrom('faultboard_error_hours as h')
    .innerJoin('faultboard_errors as e', 'e.id', 'h.error_id')
    .innerJoin('faultboard_baselines as b', (join) =>
      join
        .onRef('b.application_id', '=', 'e.application_id')
        .onRef('b.error_type', '=', 'e.error_type')
        .onRef('b.platform', '=', 'h.platform')
        .on('b.granularity', '=', 'hour'),
    )
    .select(({ fn }) => [
      'e.application_id',
      'e.error_type',
      'h.platform',
      'b.mean',
      'b.std_dev',
      fn.sum<number>('h.count').as('count'),
      sql<number>`min(${gravity('h.severity')})`.as('gravest'),
    ])
    .where('h.hour', '>=', hour)
    .where('h.hour', '<', hour + HOUR)
    .$if(application_id !== undefined, (query) => query.where('e.application_id', '=', application_id ?? 0))
    .$if(audible, (query) =>
      query
        .where('e.status', '!=', 'wont_fix')
        .where(({ eb, or }) => or([eb('e.snoozed_until', 'is', null), eb('e.snoozed_until', '<=', now())]))
        .where(({ eb, or }) => or([eb('e.muted_at', 'is', null), eb('e.muted_until', '<=', now())])),
    )
    .groupBy(['e.application_id', 'e.error_type', 'h.platform', 'b.mean', 'b.std_dev'])
    .having(({ fn }) => fn.sum('h.count'), '>=', least)
    .execute()
  return rows
    .flatMap((row) => {
      const [mean, std_dev] = [Number(row.mean), Number(row.std_dev)]
      const deviations = deviationsAbove({ mean, std_dev, sample_count: 0 }, row.count)
      const limit = config.baseline_alert_threshold_std_devs
      if (deviations === null ? row.count <= mean : deviations <= limit) return []
      const { application_id, error_type, platform, count } = row
      const severity = SEVERITIES[Number(row.gravest)] ?? 'low'
      return [{ application_id, error_type, platform, count, usual: mean, std_dev, deviations, severity }]
    })
    .sort((a, b) => (b.deviations ?? Number.MAX_VALUE) - (a.deviations ?? Number.MAX_VALUE) || b.count - a.count)
}
