import type { Spike } from '../../../analytics/baselines/spiking-errors.js'
import type { StrongCascade } from '../../../analytics/cascades/strongest-cascades.js'
import type { UserErrors } from '../../../analytics/correlation/top-users.js'
import type { RecentBursts } from '../../../analytics/patterns/recent-bursts.js'
import type { ReleaseChanges } from '../../../analytics/releases/release-changes.js'
import type { VersionFigures } from '../../../analytics/releases/version-errors.js'
import { type Answer, oldestOf, remembered } from '../../../analytics/remembered.js'
import {
  aboveUsual,
  burstsOfPeriod,
  cascadesOfPeriod,
  changesOfRelease,
  type ErrorTrends,
  errorsByRelease,
  errorsByType,
  errorsByUsers,
  errorTrends,
  errorTrendsInput,
  TREND_DAYS,
  type TypeShares,
  usersWithErrors,
} from '../../../analytics/trends/error-trends.js'
import type { ImpactedError } from '../../../analytics/trends/user-impact.js'
import { definePage } from '../../define.js'
import { DayRange } from '../../ui/day-range.js'
import { Empty } from '../../ui/empty.js'
import { UpdatedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/page-head.js'
import { AboveUsual } from './above-usual.js'
import { NewestBursts } from './bursts.js'
import { StrongestCascades } from './cascades.js'
import { Releases } from './release-panels.js'
import { ResolutionFigures } from './resolution-figures.js'
import { periodText, Trends } from './trends.js'
import { UserFigures } from './user-figures.js'

/** Cached queries that are slow on a large database. */
interface CachedFigures {
  errors_by_type: Answer<TypeShares>
  top_users: Answer<UserErrors[]>
  user_impact: Answer<ImpactedError[]>
  errors_by_version: Answer<VersionFigures[]>
  release: Answer<ReleaseChanges | null>
  above_baseline: Answer<Spike[] | null>
  cascades: Answer<StrongCascade[]>
  bursts: Answer<RecentBursts>
}

interface Analytics {
  trends: ErrorTrends
  counted: CachedFigures
  /** Age of the oldest cached result. */
  counted_at: number
}

export const analytics = definePage({
  path: '/errors/analytics',
  text: 'Analytics: trends, types, hours, users, resolution and releases',
  parameters: errorTrendsInput,
  async load(context, { days = TREND_DAYS, application_id, app_version }): Promise<Analytics> {
    await context.ready()
    const input = { days, application_id }
    const cachedQuery = <T,>(name: string, query: () => Promise<T>) =>
      remembered(context, `analytics ${name} ${days} ${application_id}`, query)
    const trends = await cachedQuery('trends', () => errorTrends(context, input))
    const counted = {
      errors_by_type: await cachedQuery('types', () => errorsByType(context, input)),
      top_users: await cachedQuery('users', () => usersWithErrors(context, input)),
      user_impact: await cachedQuery('impact', () => errorsByUsers(context, input)),
      errors_by_version: await cachedQuery('versions', () => errorsByRelease(context, input)),
      release: await cachedQuery(`release ${app_version}`, () =>
        changesOfRelease(context, { application_id }, app_version),
      ),
      above_baseline: await cachedQuery('above baseline', () => aboveUsual(context, { application_id })),
      cascades: await cachedQuery('cascades', () => cascadesOfPeriod(context, input)),
      bursts: await cachedQuery('bursts', () => burstsOfPeriod(context, input)),
    }
    return { trends: trends.value, counted, counted_at: oldestOf([trends, ...Object.values(counted)]) }
  },
  title: () => 'Analytics',
  json: ({ trends, counted, counted_at }) => ({
    ...trends,
    ...Object.fromEntries(Object.entries(counted).map(([name, { value }]) => [name, value])),
    counted_at: new Date(counted_at).toISOString(),
  }),
  view: ({ trends, counted, counted_at }, visit, { app_version }) => (
    <>
      <PageHead title="Analytics" context={periodText(trends.period)}>
        <DayRange days={trends.period.days} visit={visit} />
      </PageHead>
      {trends.total_occurrences === 0 && trends.resolution.time_to_resolve.resolved_count === 0 ? (
        <Empty
          title={`No occurrences in the last ${trends.period.days === 1 ? 'day' : `${trends.period.days} days`}`}
          code="await Tracker.Commands.LogError.call({ exception: new Error('Hello, Faultboard') })"
        >
          Trends, affected users and releases appear here with the first error. Select a longer range, or send a test
          error:
        </Empty>
      ) : (
        <div class="stack">
          <Trends trends={trends} types={counted.errors_by_type.value} visit={visit} />
          <UserFigures users={counted.top_users.value} impact={counted.user_impact.value} visit={visit} />
          <ResolutionFigures trends={trends} visit={visit} />
          <AboveUsual spikes={counted.above_baseline.value} visit={visit} />
          <StrongestCascades cascades={counted.cascades.value} visit={visit} />
          <NewestBursts found={counted.bursts.value} visit={visit} />
          <Releases
            versions={counted.errors_by_version.value}
            changes={counted.release.value}
            wanted={app_version}
            visit={visit}
          />
          <UpdatedAt at={counted_at} now={visit.now} />
        </div>
      )}
    </>
  ),
})
