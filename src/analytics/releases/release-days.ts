import type { Context } from '../../context.js'
import type { Scope } from '../sums/application-filter.js'
import { hoursOf } from '../sums/application-filter.js'
import { isoDate, localDay, type Period } from '../sums/period.js'
import { type Release, releaseKey } from './releases.js'

/** Occurrences of these releases on each local day of the period, by release key. */
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
  return context.database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => [
      'application_id',
      'app_version',
      localDay(period).as('day'),
      fn.sum<number>('count').as('count'),
    ])
    .where(await hoursOf(context, application_id))
    .where('hour', '>=', period.from)
    .where('hour', '<', period.to)
    .groupBy(['application_id', 'app_version', 'day'])
    .execute()
}
