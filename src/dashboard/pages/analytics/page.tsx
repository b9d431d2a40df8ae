import * as v from 'valibot'
import { Spike } from '../../../analytics/baselines/spiking-errors.js'
import { type CachedResult, cachedQuery, oldestQueryTime } from '../../../analytics/cached-query.js'
import { StrongCascade } from '../../../analytics/cascades/strongest-cascades.js'
import { UserErrors } from '../../../analytics/correlation/top-users.js'
import { occurrenceBars } from '../../../analytics/overview/overview.js'
import { RecentBursts } from '../../../analytics/patterns/recent-bursts.js'
import { ReleaseChanges } from '../../../analytics/releases/release-changes.js'
import { cachedReleaseTimes, type ReleaseMarker } from '../../../analytics/releases/release-markers.js'
import { VersionFigures } from '../../../analytics/releases/version-errors.js'
import {
  burstsOfPeriod,
  cascadesOfPeriod,
  changesOfRelease,
  ErrorTrends,
  errorsByRelease,
  errorsByType,
  errorsByUsers,
  errorTrends,
  errorTrendsInput,
  TREND_DAYS,
  type TrendsInput,
  TypeShares,
  typesAboveBaseline,
  usersWithErrors,
} from '../../../analytics/trends/error-trends.js'
import { ImpactedError } from '../../../analytics/trends/user-impact.js'
import type { Context } from '../../../context.js'
import { type ChartSpan, chartSpan, zoomInput } from '../../../model/chart-span.js'
import { type Scope, scopeKey } from '../../../model/input/scope.js'
import * as r from '../../../model/result.js'
import { definePage } from '../../define.js'
import type { Zoom } from '../../ui/charts/day-chart.js'
import { DayRange } from '../../ui/day-range.js'
import { Empty } from '../../ui/empty.js'
import { UpdatedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { YieldingList } from '../../ui/yielding-list.js'
import { AboveBaseline } from './above-baseline.js'
import { NewestBursts } from './bursts.js'
import { StrongestCascades } from './cascades.js'
import { RecurringErrors, ResolutionRates } from './resolution-figures.js'
import { periodText, Trends } from './trends.js'
import { UserImpact } from './user-impact.js'

/** Figures cached separately, because their queries are slow on a large database. */
const SlowFigures = r.object({
  errors_by_type: TypeShares,
  user_impact: r.list(ImpactedError),
  above_baseline: r.nullable(r.list(Spike)),
  cascades: r.list(StrongCascade),
  bursts: RecentBursts,
})
type SlowFigures = v.InferOutput<typeof SlowFigures>

/** Figures that the Correlation and Releases pages show. */
const JsonFigures = r.object({
  top_users: r.list(UserErrors),
  errors_by_version: r.list(VersionFigures),
  release: r.nullable(ReleaseChanges),
})
type JsonFigures = v.InferOutput<typeof JsonFigures>

type Cached<Figures> = { [Name in keyof Figures]: CachedResult<Figures[Name]> }

interface Analytics {
  trends: ErrorTrends
  counted: Cached<SlowFigures>
  /** Time of the oldest cached result. */
  counted_at: number
  releases: readonly ReleaseMarker[]
  zoom: Zoom | null
}

export const analytics = definePage({
  path: '/errors/analytics',
  text: 'Analytics: trends, types, hours, users, resolution and releases',
  role: 'viewer',
  parameters: v.object({ ...errorTrendsInput.entries, ...zoomInput }),
  async load(
    context,
    { days = TREND_DAYS, application_id, environment, from, to },
    { now, time_zone },
  ): Promise<Analytics> {
    // Parsed before any query, because invalid times must be rejected before the page is streamed.
    const zoomed = from === undefined || to === undefined ? null : chartSpan({ from, to }, now, time_zone)
    await context.ready()
    const scope = { application_id, environment }
    const input = { days, ...scope }
    const cached = cacheFor(context, input)
    const trends = await cached('trends', () => errorTrends(context, input))
    const counted = {
      errors_by_type: await cached('types', () => errorsByType(context, input)),
      user_impact: await cached('impact', () => errorsByUsers(context, input)),
      above_baseline: await cached('above baseline', () => typesAboveBaseline(context, scope)),
      cascades: await cached('cascades', () => cascadesOfPeriod(context, input)),
      bursts: await cached('bursts', () => burstsOfPeriod(context, input)),
    }
    return {
      trends: trends.value,
      counted,
      counted_at: oldestQueryTime([trends, ...Object.values(counted)]),
      releases: await cachedReleaseTimes(context, scope),
      zoom: zoomed && (await loadZoom(context, scope, zoomed)),
    }
  },
  async loadForJson(context, _data, { days = TREND_DAYS, application_id, environment, app_version }) {
    const scope = { application_id, environment }
    const input = { days, ...scope }
    const cached = cacheFor(context, input)
    const forJson: Cached<JsonFigures> = {
      top_users: await cached('users', () => usersWithErrors(context, input)),
      errors_by_version: await cached('versions', () => errorsByRelease(context, input)),
      release: await cached(`release ${app_version}`, () => changesOfRelease(context, scope, app_version)),
    }
    return { forJson }
  },
  title: () => 'Analytics',
  streamedTitle: 'Analytics',
  response: r.object({
    ...ErrorTrends.entries,
    ...SlowFigures.entries,
    ...JsonFigures.entries,
    counted_at: r.time,
  }),
  json: ({ trends, counted, forJson, counted_at }) => ({
    ...trends,
    ...unwrapCached<SlowFigures>(counted),
    ...unwrapCached<JsonFigures>(forJson),
    counted_at: new Date(Math.min(counted_at, oldestQueryTime(Object.values(forJson)))).toISOString(),
  }),
  view: ({ trends, counted, counted_at, releases, zoom }, visit) => (
    <>
      <PageHead title="Analytics" context={periodText(trends.period)}>
        <DayRange days={trends.period.days} visit={visit} />
      </PageHead>
      {trends.total_occurrences === 0 && trends.resolution.time_to_resolve.resolved_count === 0 ? (
        <Empty
          title={`No occurrences in the last ${trends.period.days === 1 ? 'day' : `${trends.period.days} days`}`}
          code="await Tracker.Commands.LogError.call({ exception: new Error('Hello, Faultboard') })"
        >
          Trends, affected users and resolution times appear here after the first error. Select a longer range, or send
          a test error:
        </Empty>
      ) : (
        <div class="stack">
          <YieldingList
            items={[
              () => (
                <Trends
                  trends={trends}
                  types={counted.errors_by_type.value}
                  releases={releases}
                  zoom={zoom}
                  visit={visit}
                />
              ),
              () => (
                <div class="columns">
                  <UserImpact impact={counted.user_impact.value} visit={visit} />
                  <ResolutionRates resolution={trends.resolution} visit={visit} />
                </div>
              ),
              () => <RecurringErrors recurring_errors={trends.recurring_errors} visit={visit} />,
              () => <AboveBaseline spikes={counted.above_baseline.value} visit={visit} />,
              () => <StrongestCascades cascades={counted.cascades.value} visit={visit} />,
              () => <NewestBursts found={counted.bursts.value} visit={visit} />,
            ]}
            render={(renderPanel) => renderPanel()}
          />
          <UpdatedAt at={counted_at} now={visit.now} />
        </div>
      )}
    </>
  ),
})

async function loadZoom(context: Context, scope: Scope, span: ChartSpan): Promise<Zoom> {
  const { value } = await cachedQuery(context, `analytics bars ${span.from} ${span.to} ${scopeKey(scope)}`, () =>
    occurrenceBars(context, scope, span),
  )
  return { span, values: value.map(({ starts_at, ...values }) => values) }
}

function cacheFor(context: Context, { days, ...scope }: TrendsInput) {
  return <T,>(name: string, query: () => Promise<T>) =>
    cachedQuery(context, `analytics ${name} ${days} ${scopeKey(scope)}`, query)
}

function unwrapCached<Figures>(cached: Cached<Figures>): Figures {
  const entries = Object.entries<CachedResult<unknown>>(cached)
  return Object.fromEntries(entries.map(([name, { value }]) => [name, value])) as Figures
}
