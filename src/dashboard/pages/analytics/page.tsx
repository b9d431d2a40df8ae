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
import { CountedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/page-head.js'
import { AboveUsual } from './above-usual.js'
import { NewestBursts } from './bursts.js'
import { StrongestCascades } from './cascades.js'
import { Releases } from './release-panels.js'
import { ResolutionFigures } from './resolution-figures.js'
import { periodLine, Trends } from './trends.js'
import { UserFigures } from './user-figures.js'

/** What may take long on a large database, each with when it was counted. */
interface Counted {
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
  counted: Counted
  /** When the oldest of them was. */
  counted_at: number
}

/** How errors spread over time, kinds, users and releases, and how they were dealt with. */
export const analytics = definePage({
  path: '/errors/analytics',
  text: 'Analytics: trends, types, hours, users, resolution and releases',
  parameters: errorTrendsInput,
  async load(context, { days = TREND_DAYS, application_id, app_version }): Promise<Analytics> {
    await context.ready()
    const question = { days, application_id }
    const ask = <T,>(name: string, answer: () => Promise<T>) =>
      remembered(context, `analytics ${name} ${days} ${application_id}`, answer)
    const trends = await ask('trends', () => errorTrends(context, question))
    const counted = {
      errors_by_type: await ask('types', () => errorsByType(context, question)),
      top_users: await ask('users', () => usersWithErrors(context, question)),
      user_impact: await ask('impact', () => errorsByUsers(context, question)),
      errors_by_version: await ask('versions', () => errorsByRelease(context, question)),
      release: await ask(`release ${app_version}`, () => changesOfRelease(context, { application_id }, app_version)),
      above_baseline: await ask('above baseline', () => aboveUsual(context, { application_id })),
      cascades: await ask('cascades', () => cascadesOfPeriod(context, question)),
      bursts: await ask('bursts', () => burstsOfPeriod(context, question)),
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
      <PageHead title="Analytics" context={periodLine(trends.period)}>
        <DayRange days={trends.period.days} visit={visit} />
      </PageHead>
      {trends.total_occurrences === 0 && trends.resolution.time_to_resolve.resolved_count === 0 ? (
        <Empty
          title={`Nothing occurred in ${trends.period.days === 1 ? 'this day' : `these ${trends.period.days} days`}`}
          code="await Tracker.Commands.LogError.call({ exception: new Error('Hello, Faultboard') })"
        >
          Trends, busy hours, affected users and releases appear here with the first error. Choose a longer range, or
          record one:
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
          <CountedAt at={counted_at} now={visit.now} />
        </div>
      )}
    </>
  ),
})
