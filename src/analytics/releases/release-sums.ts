import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { releaseVersion, type SeenRelease, sortReleases } from '../../model/releases/releases.js'
import type { Severity } from '../../model/severity/severity.js'
import { DAY, HOUR, startOfHour, startOfUtcDay } from '../../model/time.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import type { VersionSum } from '../sums/hour-sums.js'
import { MAX_DAYS, type Span } from '../sums/period.js'
import { inEnvironment, sumsInScope } from '../sums/scope-conditions.js'
import { splitIntoDays } from '../sums/split-into-days.js'
import { type DatedRelease, type Release, releaseKey, sumByRelease } from './releases.js'

/** Releases of the last year, oldest first, in the order used to detect regressions. */
export async function releasesOfYear(context: Context, scope: Scope): Promise<DatedRelease[]> {
  const to = startOfHour(context.now()) + HOUR
  const serverTimes = await loadFirstSeenTimes(context, scope, 'faultboard_releases')
  const clientTimes = await loadFirstSeenTimes(context, scope, 'faultboard_client_releases')
  const releases = await releasesIn(context, scope, { from: to - MAX_DAYS * DAY, to })
  return sortAcrossApplications(
    releases.map((release) => {
      const key = releaseKey(release)
      const isClient = !serverTimes.has(key) && clientTimes.has(key)
      const first_seen_at = firstSeenAt(release, (isClient ? clientTimes : serverTimes).get(key))
      return { ...release, name: release.app_version, first_seen_at, is_client: isClient }
    }),
  ).map(({ name: _, ...release }) => release)
}

/**
 * Sorts the releases of each application by version. Merges applications by first-seen time without changing the order
 * within an application.
 */
function sortAcrossApplications<Item extends DatedRelease & SeenRelease>(releases: readonly Item[]): Item[] {
  const sortable: { release: Item; sortTime: number }[] = []
  for (const id of new Set(releases.map(({ application_id }) => application_id))) {
    const own = sortReleases(releases.filter(({ application_id }) => application_id === id))
    let sortTime = Number.POSITIVE_INFINITY
    for (const release of own.reverse()) {
      sortTime = Math.min(sortTime, release.first_seen_at)
      sortable.push({ release, sortTime })
    }
  }
  return sortable
    .reverse()
    .sort((a, b) => a.sortTime - b.sortTime)
    .map(({ release }) => release)
}

/**
 * Ignores a time recorded after the first hour. During an error flood, not every occurrence is inspected,
 * so the recorded time can be late.
 */
function firstSeenAt({ first_hour }: Release, recorded: number | undefined): number {
  return recorded !== undefined && recorded < first_hour + HOUR ? recorded : first_hour
}

/** First-seen time of each version, on any platform and commit. */
async function loadFirstSeenTimes(
  context: Context,
  scope: Scope,
  table: 'faultboard_releases' | 'faultboard_client_releases',
): Promise<Map<string, number>> {
  const rows = await context.database.read
    .selectFrom(table)
    .select(['application_id', 'version as name', 'first_seen_at'])
    .where(await sumsInScope(context, scope))
    .orderBy('first_seen_at', 'desc')
    .execute()
  return new Map(
    rows.map(({ application_id, name, first_seen_at }) => [
      releaseKey({ application_id, app_version: releaseVersion(name) }),
      first_seen_at,
    ]),
  )
}

/** Releases with occurrences in a span, with their figures. */
export async function releasesIn(context: Context, scope: Scope, span: Span): Promise<Release[]> {
  const { days, missing, extra } = await splitIntoDays(context, scope, span)
  const isInScope = await sumsInScope(context, scope)
  const sums = new Map<string, SeveritySum>()
  const add = (rows: readonly SeveritySum[], sign = 1) => {
    for (const row of rows) {
      const key = JSON.stringify([row.application_id, row.severity, row.app_version])
      sums.set(key, { ...row, count: (sums.get(key)?.count ?? 0) + sign * row.count })
    }
  }
  add(await sumDays(context, isInScope, days))
  for (const part of missing) add(await sumHours(context, isInScope, part))
  for (const part of extra) add(await sumHours(context, isInScope, part), -1)
  const seen = await loadFirstAndLastHours(context, scope, span)
  return sumByRelease(
    [...sums.values()].flatMap((sum): VersionSum[] => {
      const hours = seen.get(releaseKey(sum))
      return hours && sum.count > 0 ? [{ ...sum, ...hours }] : []
    }),
  )
}

interface SeveritySum {
  application_id: number
  app_version: string
  severity: Severity
  count: number
}

async function sumDays(
  { database }: Context,
  isInScope: RawBuilder<boolean>,
  { from, to }: Span,
): Promise<SeveritySum[]> {
  return database.read
    .selectFrom('faultboard_application_days')
    .select(({ fn }) => ['application_id', 'app_version', 'severity', fn.sum<number>('count').as('count')])
    .where(isInScope)
    .where('day', '>=', from)
    .where('day', '<', to)
    .groupBy(['application_id', 'app_version', 'severity'])
    .execute()
}

async function sumHours(
  { database }: Context,
  isInScope: RawBuilder<boolean>,
  { from, to }: Span,
): Promise<SeveritySum[]> {
  return database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['application_id', 'app_version', 'severity', fn.sum<number>('count').as('count')])
    .where(isInScope)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy(['application_id', 'app_version', 'severity'])
    .execute()
}

/** First and last hour of each version within the span, using an index. */
async function loadFirstAndLastHours(context: Context, scope: Scope, { from, to }: Span) {
  const { read } = context.database
  // With `min` and `max`, MySQL would read all hours of a version, and SQLite all hours of its environment.
  const firstHour = (direction: 'asc' | 'desc') =>
    sql<number | null>`(select h.hour from faultboard_application_hours h
      where h.application_id = v.application_id and h.app_version = v.app_version and h.hour >= ${from} and h.hour < ${to}
      and ${inEnvironment(scope, 'h.environment')} order by h.hour ${sql.raw(direction)} limit 1)`
  const versions = read
    .selectFrom('faultboard_application_days')
    .select(['application_id', 'app_version'])
    .where(await sumsInScope(context, scope))
    .where('day', '>=', startOfUtcDay(from))
    .where('day', '<', to)
    .distinct()
  const rows = await read
    .selectFrom(versions.as('v'))
    .select(['v.application_id', 'v.app_version', firstHour('asc').as('first_hour'), firstHour('desc').as('last_hour')])
    .execute()
  return new Map(
    rows.flatMap(({ application_id, app_version, first_hour, last_hour }) =>
      first_hour === null || last_hour === null
        ? []
        : [[releaseKey({ application_id, app_version }), { first_hour, last_hour }] as const],
    ),
  )
}
