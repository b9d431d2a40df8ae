import type { Spike } from '../../../analytics/baselines/spiking-errors.js'
import type { StrongCascade } from '../../../analytics/cascades/strongest-cascades.js'
import type { UserErrors } from '../../../analytics/correlation/top-users.js'
import type { DashboardStats } from '../../../analytics/overview/dashboard-stats.js'
import type {
  AttentionList,
  ImpactRow,
  Overview,
  OverviewDay,
  TrendSeries,
} from '../../../analytics/overview/overview.js'
import type { ErrorBurst, RecentBursts } from '../../../analytics/patterns/recent-bursts.js'
import type { VersionFigures } from '../../../analytics/releases/version-errors.js'
import type { ErrorTrends, TypeShares } from '../../../analytics/trends/error-trends.js'
import type { RecurringError } from '../../../analytics/trends/recurring-errors.js'
import type { Resolution, ResolutionRate, ResolutionTimes } from '../../../analytics/trends/resolution.js'
import type { ImpactedError } from '../../../analytics/trends/user-impact.js'
import type { Severity } from '../../../model/severity/severity.js'
import { always, day, flag, list, map, named, nullable, number, object, text, time, whole } from '../schema.js'
import { releaseChanges, versionFigures } from './releases.js'
import { period, RANKED, rankedError, severity, severityCounts, strongCascade } from './shared.js'

const spike = named(
  'Spike',
  object<Spike>({
    application_id: whole,
    error_type: text,
    platform: text,
    count: whole,
    mean: number,
    std_dev: number,
    deviations: nullable(number),
  }),
)

const attention = named(
  'Attention',
  object<AttentionList>({ count: whole, is_lower_bound: always, errors: list(rankedError) }, ['is_lower_bound']),
)
const multiples = list(object<TrendSeries>({ name: text, total: whole, daily: list(whole) }))
const SEVERITY_COUNTS = { critical: whole, high: whole, medium: whole, low: whole }
const times = { median_ms: nullable(number), mean_ms: nullable(number) }

type OverviewAnswer = DashboardStats & Omit<Overview, 'stats'> & { cascades: StrongCascade[]; counted_at: string }

export const overviewAnswer = object<OverviewAnswer>({
  total_errors: whole,
  errors_today: whole,
  errors_last_7_days: whole,
  errors_last_30_days: whole,
  resolved_count: whole,
  unresolved_count: whole,
  total_occurrences: whole,
  occurrences_today: whole,
  occurrences_last_7_days: whole,
  occurrences_last_30_days: whole,
  top_errors: list(object<{ error_type: string; count: number }>({ error_type: text, count: whole })),
  errors_by_platform: map(whole),
  today: object<Overview['today']>({ occurrences: whole, before: whole }),
  unresolved: object<Overview['unresolved']>({ count: whole, opened: whole, closed: whole, daily: list(whole) }),
  affected_users: object<Overview['affected_users']>(
    { count: whole, before: nullable(whole), is_lower_bound: always, daily: list(whole) },
    ['is_lower_bound'],
  ),
  time_to_resolve: object<Overview['time_to_resolve']>({
    count: whole,
    ...times,
    before: object<Overview['time_to_resolve']['before']>({ count: whole, ...times }),
    weekly_mean_ms: list(number),
  }),
  days: list(object<OverviewDay>({ date: day, total: whole, ...SEVERITY_COUNTS })),
  new_since: time,
  new_errors: attention,
  reopened: attention,
  unattended: attention,
  spiking: nullable(list(spike)),
  impact_since: time,
  user_counts_are_lower_bounds: flag,
  top_by_impact: list(object<ImpactRow>({ ...RANKED, occurrences: whole, users: whole })),
  platforms: multiples,
  releases: multiples,
  cascades: list(strongCascade),
  counted_at: time,
})

const RATE = { error_count: whole, resolved_count: whole, resolution_rate: number }
const TIMES = { resolved_count: whole, ...times }

const resolution = object<Resolution>({
  ...RATE,
  by_severity: list(object<{ severity: Severity } & ResolutionRate>({ severity, ...RATE })),
  by_platform: list(object<{ platform: string } & ResolutionRate>({ platform: text, ...RATE })),
  time_to_resolve: object<Resolution['time_to_resolve']>({
    ...TIMES,
    by_severity: list(object<{ severity: Severity } & ResolutionTimes>({ severity, ...TIMES })),
    by_platform: list(object<{ platform: string } & ResolutionTimes>({ platform: text, ...TIMES })),
    by_week: list(object<{ week: string } & ResolutionTimes>({ week: day, ...TIMES })),
  }),
})

interface AnalyticsAnswer extends ErrorTrends {
  errors_by_type: TypeShares
  top_users: UserErrors[]
  user_impact: ImpactedError[]
  errors_by_version: VersionFigures[]
  release: Parameters<NonNullable<typeof releaseChanges.describes>>[0] | null
  above_baseline: Spike[] | null
  cascades: StrongCascade[]
  bursts: RecentBursts
  counted_at: string
}

export const userErrors = named(
  'UserErrors',
  object<UserErrors>({ user_id: text, error_count: whole, occurrences: whole, last_seen_at: time }),
)

export const analyticsAnswer = object<AnalyticsAnswer>({
  period,
  total_occurrences: whole,
  severities: severityCounts,
  errors_over_time: list(
    object<ErrorTrends['errors_over_time'][number]>({ date: day, count: whole, ...SEVERITY_COUNTS }),
  ),
  errors_by_platform: list(
    object<ErrorTrends['errors_by_platform'][number]>({ platform: text, count: whole, share: number }),
  ),
  errors_by_weekday_and_hour: list(list(whole)),
  resolution,
  recurring_errors: list(object<RecurringError>({ ...RANKED, open_days: number })),
  errors_by_type: object<TypeShares>({
    types: list(
      object<TypeShares['types'][number]>({ error_type: text, count: whole, error_count: whole, share: number }),
    ),
    other: object<TypeShares['other']>({ count: whole, type_count: whole, share: number }),
  }),
  top_users: list(userErrors),
  user_impact: list(object<ImpactedError>({ ...RANKED, user_count: whole })),
  errors_by_version: list(object<VersionFigures>(versionFigures)),
  release: nullable(releaseChanges),
  above_baseline: nullable(list(spike)),
  cascades: list(strongCascade),
  bursts: object<RecentBursts>({
    bursts: list(
      object<ErrorBurst>({
        started_at: time,
        ended_at: time,
        occurrence_count: whole,
        duration_seconds: number,
        per_minute: number,
        is_lower_bound: flag,
        occurrences_in_hours: whole,
        error: rankedError,
      }),
    ),
    since: time,
    is_lower_bound: flag,
  }),
  counted_at: time,
})
