import type { CorrelatedTypes } from '../../../analytics/correlation/time-correlation.js'
import type { UserErrors } from '../../../analytics/correlation/top-users.js'
import type { CrossPlatformError } from '../../../analytics/platforms/cross-platform-errors.js'
import type { PlatformError, PlatformHealth } from '../../../analytics/platforms/platform-comparison.js'
import type { PlatformRate, PlatformStability } from '../../../analytics/platforms/platform-figures.js'
import type { ProblematicRelease, ReleaseFigures } from '../../../analytics/releases/problematic-releases.js'
import type { VersionErrors } from '../../../analytics/releases/version-errors.js'
import type { PeriodView } from '../../../analytics/sums/period.js'
import { list, nullable, number, object, text, time, whole, word } from '../schema.js'
import { userErrors } from './insight.js'
import { stability, versionFigures } from './releases.js'
import { period, RANKED, severityCounts } from './shared.js'

const RATE = {
  platform: text,
  occurrences: whole,
  share: number,
  per_day: number,
  before_count: whole,
  growth: nullable(number),
  severities: severityCounts,
  daily_counts: list(whole),
}

const RESOLVED = {
  error_count: whole,
  resolved_count: whole,
  resolution_rate: number,
  median_time_to_resolve_ms: nullable(number),
}

interface PlatformAnswer {
  period: PeriodView
  error_rate_by_platform: PlatformRate[]
  platform_stability_scores: PlatformStability[]
  platform_health_summary: PlatformHealth | null
  cross_platform_errors: CrossPlatformError[]
  counted_at: string
}

export const platformComparisonAnswer = object<PlatformAnswer>({
  period,
  error_rate_by_platform: list(object<PlatformRate>(RATE)),
  platform_stability_scores: list(
    object<PlatformStability>({ platform: text, stability_score: number, status: stability, ...RESOLVED }),
  ),
  platform_health_summary: nullable(
    object<PlatformHealth>({
      ...RATE,
      ...RESOLVED,
      stability_score: nullable(number),
      status: word(['stable', 'shaky', 'unstable', 'quiet']),
      top_errors: list(object<PlatformError>({ ...RANKED, count: whole })),
    }),
  ),
  cross_platform_errors: list(
    object<CrossPlatformError>({
      error_type: text,
      place: nullable(text),
      count: whole,
      platforms: list(object<CrossPlatformError['platforms'][number]>({ platform: text, count: whole })),
      error_ids: list(whole),
    }),
  ),
  counted_at: time,
})

const FIGURES = {
  application_id: whole,
  app_version: text,
  first_seen_at: time,
  occurrences: whole,
  per_day: number,
  severe_share: number,
  new_error_count: whole,
}

interface CorrelationAnswer {
  period: PeriodView
  errors_by_version: VersionErrors[]
  problematic_releases: ProblematicRelease[]
  multi_error_users: UserErrors[]
  time_correlated_errors: CorrelatedTypes[]
  counted_at: string
}

export const correlationAnswer = object<CorrelationAnswer>({
  period,
  errors_by_version: list(object<VersionErrors>({ ...versionFigures, error_count: whole })),
  problematic_releases: list(
    object<ProblematicRelease>({
      ...FIGURES,
      reasons: list(word(['more_occurrences', 'more_severe', 'more_new_errors'])),
      before: object<ReleaseFigures>(FIGURES),
    }),
  ),
  multi_error_users: list(userErrors),
  time_correlated_errors: list(
    // Pairs of types with their counts.
    object<CorrelatedTypes>({
      error_types: { json: list(text).json },
      correlation: number,
      shared_hours: whole,
      counts: { json: list(whole).json },
    }),
  ),
  counted_at: time,
})
