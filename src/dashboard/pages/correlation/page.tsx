import { type CachedResult, cachedQuery, oldestQueryTime } from '../../../analytics/cached-query.js'
import { CORRELATION_DAYS, correlateErrors } from '../../../analytics/correlation/error-correlation.js'
import { CorrelatedTypes } from '../../../analytics/correlation/time-correlation.js'
import { UserErrors } from '../../../analytics/correlation/top-users.js'
import { ProblematicRelease } from '../../../analytics/releases/problematic-releases.js'
import { VersionErrors } from '../../../analytics/releases/version-errors.js'
import { PeriodView, periodInput } from '../../../analytics/sums/period.js'
import { scopeKey } from '../../../model/input/scope.js'
import * as r from '../../../model/result.js'
import { definePage } from '../../define.js'
import { DayRange } from '../../ui/day-range.js'
import { Empty } from '../../ui/empty.js'
import { UpdatedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { periodText } from '../analytics/trends.js'
import { CorrelatedHours, MultiErrorUsers, ProblematicReleases } from './panels.js'

interface CorrelationData {
  period: PeriodView
  /** Versions for the JSON. In HTML, the Releases page shows them. */
  versions: CachedResult<VersionErrors[]>
  releases: CachedResult<ProblematicRelease[]>
  users: CachedResult<UserErrors[]>
  hours: CachedResult<CorrelatedTypes[]>
}

export const correlation = definePage({
  path: '/errors/correlation',
  text: 'Correlation: versions, problematic releases, users with several errors, correlated types',
  role: 'viewer',
  parameters: periodInput,
  async load(context, { days = CORRELATION_DAYS, application_id, environment }): Promise<CorrelationData> {
    const scope = { application_id, environment }
    const query = await correlateErrors.run(context, { days, ...scope })
    const cached = <T,>(name: string, load: () => Promise<T>) =>
      cachedQuery(context, `correlation ${name} ${days} ${scopeKey(scope)}`, load)
    return {
      period: await query.period(),
      releases: await cached('releases', () => query.problematicReleases()),
      versions: await cached('versions', () => query.errorsByVersion()),
      users: await cached('users', () => query.multiErrorUsers()),
      hours: await cached('hours', () => query.timeCorrelatedErrors()),
    }
  },
  title: () => 'Correlation',
  streamedTitle: 'Correlation',
  response: r.object({
    period: PeriodView,
    errors_by_version: r.list(VersionErrors),
    problematic_releases: r.list(ProblematicRelease),
    multi_error_users: r.list(UserErrors),
    time_correlated_errors: r.list(CorrelatedTypes),
    counted_at: r.time,
  }),
  json: (data) => ({
    period: data.period,
    errors_by_version: data.versions.value,
    problematic_releases: data.releases.value,
    multi_error_users: data.users.value,
    time_correlated_errors: data.hours.value,
    counted_at: new Date(oldestResult(data)).toISOString(),
  }),
  view: (data, visit) => {
    const { versions, releases, users, hours } = data
    const isEmpty = [versions, releases, users, hours].every(({ value }) => value.length === 0)
    return (
      <>
        <PageHead title="Correlation" context={periodText(data.period)}>
          <DayRange days={data.period.days} visit={visit} />
        </PageHead>
        {isEmpty ? (
          <Empty
            title="Nothing to compare yet"
            code="Tracker.configure({ app_version: '1.4.0', user_callback: (request) => request.user?.id })"
          >
            This page shows problematic releases, users with several errors and correlated error types. Record a version
            and a user with each error:
          </Empty>
        ) : (
          <div class="stack">
            <ProblematicReleases releases={releases.value} visit={visit} />
            <div class="columns loose">
              <MultiErrorUsers users={users.value} visit={visit} />
              <CorrelatedHours pairs={hours.value} visit={visit} />
            </div>
            <UpdatedAt at={oldestResult(data)} now={visit.now} />
          </div>
        )}
      </>
    )
  },
})

function oldestResult({ versions, releases, users, hours }: CorrelationData): number {
  return oldestQueryTime([versions, releases, users, hours])
}
