import type { Context } from '../../context.js'
import { findVersion, type SeenRelease, sortReleases } from '../../model/releases.js'
import type { Severity } from '../../model/severity.js'
import { DAY, HOUR, hourOf } from '../../model/time.js'
import { startOfUtcDay } from '../../model/utc-day.js'
import { sql } from '../../store/kysely.js'
import type { Scope } from '../sums/application-filter.js'
import { askedApplications } from '../sums/application-filter.js'
import { dayParts } from '../sums/day-parts.js'
import type { VersionSum } from '../sums/hour-sums.js'
import { MAX_DAYS, type Span } from '../sums/period.js'
import { type DatedRelease, type Release, releaseKey, releasesOf } from './releases.js'

/** The releases of the last year, the newest last, in the order by which regressions are told as well. */
export async function releasesOfYear(context: Context, scope: Scope): Promise<DatedRelease[]> {
  const to = hourOf(context.now()) + HOUR
  const byServer = await notedSights(context, scope, 'faultboard_releases')
  const byClients = await notedSights(context, scope, 'faultboard_client_releases')
  const releases = await releasesIn(context, scope, { from: to - MAX_DAYS * DAY, to })
  return inOrder(
    releases.map((release) => {
      const key = releaseKey(release)
      const is_client = !byServer.has(key) && byClients.has(key)
      const first_seen_at = firstSight(release, (is_client ? byClients : byServer).get(key))
      return { ...release, name: release.app_version, first_seen_at, is_client }
    }),
  ).map(({ name: _, ...release }) => release)
}

/** Names are compared within an application; among those of others, a release stands where the next after it does. */
function inOrder<One extends DatedRelease & SeenRelease>(releases: readonly One[]): One[] {
  const placed: { release: One; place: number }[] = []
  for (const id of new Set(releases.map(({ application_id }) => application_id))) {
    const own = sortReleases(releases.filter(({ application_id }) => application_id === id))
    let place = Number.POSITIVE_INFINITY
    for (const release of own.reverse()) {
      place = Math.min(place, release.first_seen_at)
      placed.push({ release, place })
    }
  }
  return placed
    .reverse()
    .sort((a, b) => a.place - b.place)
    .map(({ release }) => release)
}

/** A sight that was noted only after the first hour was not the first: of a flood not every occurrence is looked at. */
function firstSight({ first_hour }: Release, noted: number | undefined): number {
  return noted !== undefined && noted < first_hour + HOUR ? noted : first_hour
}

/** When each version was first seen, on any platform and with any commit. */
async function notedSights(
  context: Context,
  scope: Scope,
  table: 'faultboard_releases' | 'faultboard_client_releases',
): Promise<Map<string, number>> {
  const rows = await context.database.read
    .selectFrom(table)
    .select(['application_id', 'version as name', 'first_seen_at'])
    .where('application_id', 'in', await askedApplications(context, scope))
    .orderBy('first_seen_at', 'desc')
    .execute()
  return new Map(
    rows.map(({ application_id, name, first_seen_at }) => [
      releaseKey({ application_id, app_version: findVersion(name) }),
      first_seen_at,
    ]),
  )
}

/** The releases that reported in a span, with what they did in it. */
export async function releasesIn(context: Context, scope: Scope, span: Span): Promise<Release[]> {
  const { days, missing, too_many } = await dayParts(context, scope, span)
  const ids = await askedApplications(context, scope)
  const sums = new Map<string, Sum>()
  const add = (rows: readonly Sum[], sign = 1) => {
    for (const row of rows) {
      const key = JSON.stringify([row.application_id, row.severity, row.app_version])
      sums.set(key, { ...row, count: (sums.get(key)?.count ?? 0) + sign * row.count })
    }
  }
  add(await inDays(context, ids, days))
  for (const part of missing) add(await inHours(context, ids, part))
  for (const part of too_many) add(await inHours(context, ids, part), -1)
  const seen = await sights(context, ids, span)
  return releasesOf(
    [...sums.values()].flatMap((sum): VersionSum[] => {
      const sight = seen.get(releaseKey(sum))
      return sight && sum.count > 0 ? [{ ...sum, ...sight }] : []
    }),
  )
}

interface Sum {
  application_id: number
  app_version: string
  severity: Severity
  count: number
}

async function inDays({ database }: Context, ids: readonly number[], { from, to }: Span): Promise<Sum[]> {
  return database.read
    .selectFrom('faultboard_application_days')
    .select(({ fn }) => ['application_id', 'app_version', 'severity', fn.sum<number>('count').as('count')])
    .where('application_id', 'in', ids)
    .where('day', '>=', from)
    .where('day', '<', to)
    .groupBy(['application_id', 'app_version', 'severity'])
    .execute()
}

async function inHours({ database }: Context, ids: readonly number[], { from, to }: Span): Promise<Sum[]> {
  return database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['application_id', 'app_version', 'severity', fn.sum<number>('count').as('count')])
    .where('application_id', 'in', ids)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy(['application_id', 'app_version', 'severity'])
    .execute()
}

/** The first and the last hour of each version within the span, each looked up in an index. */
async function sights({ database }: Context, ids: readonly number[], { from, to }: Span) {
  const end = (which: 'min' | 'max') =>
    sql<number | null>`(select ${sql.raw(which)}(h.hour) from faultboard_application_hours h
      where h.application_id = v.application_id and h.app_version = v.app_version and h.hour >= ${from} and h.hour < ${to})`
  const versions = database.read
    .selectFrom('faultboard_application_days')
    .select(['application_id', 'app_version'])
    .where('application_id', 'in', ids)
    .where('day', '>=', startOfUtcDay(from))
    .where('day', '<', to)
    .distinct()
  const rows = await database.read
    .selectFrom(versions.as('v'))
    .select(['v.application_id', 'v.app_version', end('min').as('first_hour'), end('max').as('last_hour')])
    .execute()
  return new Map(
    rows.flatMap(({ application_id, app_version, first_hour, last_hour }) =>
      first_hour === null || last_hour === null
        ? []
        : [[releaseKey({ application_id, app_version }), { first_hour, last_hour }] as const],
    ),
  )
}
