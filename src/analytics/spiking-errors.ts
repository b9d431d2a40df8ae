import type { Context } from '../context.js'
import { HOUR, hourOf } from '../model/time.js'
import { deviationsAbove } from './baseline-statistics.js'

/** A type of error that comes more often in this hour than is usual for it. */
export interface Spike {
  application_id: number
  error_type: string
  platform: string
  /** Occurrences in the last 60 minutes' hour so far. */
  count: number
  usual: number
  std_dev: number
  deviations: number
}

const MOST = 20

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
    .execute()
  return rows
    .flatMap((row) => {
      const [mean, std_dev] = [Number(row.mean), Number(row.std_dev)]
      const deviations = deviationsAbove({ mean, std_dev, sample_count: 0 }, row.count)
      if (deviations === null || deviations <= config.baseline_alert_threshold_std_devs) return []
      const { application_id, error_type, platform, count } = row
      return [{ application_id, error_type, platform, count, usual: mean, std_dev, deviations }]
    })
    .sort((a, b) => b.deviations - a.deviations)
    .slice(0, MOST)
}
