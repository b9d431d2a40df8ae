import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'
import type { Scope } from '../sums/application-filter.js'
import { hoursOf } from '../sums/application-filter.js'
import { isoDate, localDay, type Period } from '../sums/period.js'
import { type Release, releaseKey } from './releases.js'

/** So many days of sums are read in a few milliseconds, also where an embedded database holds the host's thread. */
const DAYS_AT_ONCE = 15

/** The occurrences of releases on each local day of the period, by their keys; those of others are left out. */
export async function releaseDays(
  context: Context,
  scope: Scope,
  period: Period,
  releases: readonly Pick<Release, 'application_id' | 'app_version'>[],
): Promise<Map<string, number[]>> {
  const days = new Map(releases.map((release) => [releaseKey(release), new Array<number>(period.days).fill(0)]))
  const places = new Map(period.dates.map((date, i) => [date, i]))
  for (const { day, count, ...release } of await daySums(context, scope, period)) {
    const counts = days.get(releaseKey(release))
    const place = places.get(isoDate(day))
    if (counts && place !== undefined) counts[place] = (counts[place] ?? 0) + count
  }
  return days
}

async function daySums(context: Context, { application_id }: Scope, period: Period) {
  const ofApplication = await hoursOf(context, application_id)
  const parts = []
  for (let from = period.from; from < period.to; from += DAYS_AT_ONCE * DAY) {
    const hours = context.database.read
      .selectFrom('faultboard_application_hours')
      .select(({ fn }) => [
        'application_id',
        'app_version',
        localDay(period).as('day'),
        fn.sum<number>('count').as('count'),
      ])
      .where(ofApplication)
      .where('hour', '>=', from)
      .where('hour', '<', Math.min(from + DAYS_AT_ONCE * DAY, period.to))
      .groupBy(['application_id', 'app_version', 'day'])
    parts.push(await hours.execute())
  }
  return parts.flat()
}
