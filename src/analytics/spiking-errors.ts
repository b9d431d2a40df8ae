import type { Context } from '../context.js'
import { HOUR, hourOf } from '../model/time.js'
import { deviationsAbove } from './baseline-statistics.js'

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
/** One or two of a type that hardly ever comes are many deviations, and yet no spike. */
const LEAST = 5

/** Of the hour that is running: it is compared with whole hours, so what it says so far can only be too little. */
export async function spikingErrors(
  { database, now, config }: Context,
  application_id: number | undefined,
): Promise<Spike[]> {
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
    ])
    .where('h.hour', '>=', hour)
    .where('h.hour', '<', hour + HOUR)
    .$if(application_id !== undefined, (query) => query.where('e.application_id', '=', application_id ?? 0))
    .groupBy(['e.application_id', 'e.error_type', 'h.platform', 'b.mean', 'b.std_dev'])
    .having(({ fn }) => fn.sum('h.count'), '>=', LEAST)
    .execute()
  return rows
    .flatMap((row) => {
      const [mean, std_dev] = [Number(row.mean), Number(row.std_dev)]
      const deviations = deviationsAbove({ mean, std_dev, sample_count: 0 }, row.count)
      const limit = config.baseline_alert_threshold_std_devs
      if (deviations === null ? row.count <= mean : deviations <= limit) return []
      const { application_id, error_type, platform, count } = row
      return [{ application_id, error_type, platform, count, usual: mean, std_dev, deviations }]
    })
    .sort((a, b) => (b.deviations ?? Number.MAX_VALUE) - (a.deviations ?? Number.MAX_VALUE) || b.count - a.count)
    .slice(0, MOST)
}
