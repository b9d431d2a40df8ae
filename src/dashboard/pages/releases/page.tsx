import * as v from 'valibot'
import { type CachedResult, cachedQuery, oldestQueryTime } from '../../../analytics/cached-query.js'
import { ReleaseChanges as Changes, releaseChanges } from '../../../analytics/releases/release-changes.js'
import { RELEASE_DAYS, ReleaseList, releaseList, releaseListInput } from '../../../analytics/releases/release-list.js'
import { filterText, id, optional } from '../../../model/input/input.js'
import { scopeKey } from '../../../model/input/scope.js'
import * as r from '../../../model/result.js'
import { definePage } from '../../define.js'
import { DayRange } from '../../ui/day-range.js'
import { Empty } from '../../ui/empty.js'
import { UpdatedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { Pagination, paginationLinks } from '../../ui/pagination.js'
import { periodText } from '../analytics/trends.js'
import { CompareForm } from './compare-form.js'
import { ReleaseAge, ReleaseChanges, releaseTitle } from './release-changes.js'
import { ReleaseTable } from './release-table.js'

interface ReleasesData {
  list: CachedResult<ReleaseList>
  /** Changes of the selected release. */
  release: CachedResult<Changes | null> | null
}

/** Limit for each list of changes of the selected release. */
const MAX_CHANGES = 25

export const releases = definePage({
  path: '/releases',
  text: 'Releases: versions with their new, regressed, increased and gone errors, and the changes of one release',
  role: 'viewer',
  parameters: v.object({
    ...releaseListInput.entries,
    app_version: filterText({ max: 128 }),
    release_application_id: optional(id()),
    compare_with: filterText({ max: 128, note: 'default: the previous release' }),
  }),
  async load(
    context,
    {
      days = RELEASE_DAYS,
      application_id,
      environment,
      page,
      app_version,
      release_application_id = application_id,
      compare_with,
    },
  ): Promise<ReleasesData> {
    await context.ready()
    const cached = <T,>(name: string, load: () => Promise<T>) =>
      cachedQuery(context, `releases ${name} ${scopeKey({ application_id, environment })}`, load)
    return {
      list: await cached(`list ${days} ${page}`, () =>
        releaseList.run(context, { days, application_id, environment, page }),
      ),
      release:
        app_version === undefined && compare_with === undefined
          ? null
          : await cached(`of ${JSON.stringify([app_version, compare_with])} ${release_application_id}`, () =>
              releaseChanges(
                context,
                { application_id: release_application_id, environment },
                app_version,
                MAX_CHANGES,
                compare_with,
              ),
            ),
    }
  },
  title: ({ release }) => (release?.value ? `Release ${release.value.app_version}` : 'Releases'),
  response: r.object({ ...ReleaseList.entries, release: r.nullable(Changes), counted_at: r.time }),
  json: ({ list, release }) => ({
    ...list.value,
    release: release?.value ?? null,
    counted_at: new Date(oldestQueryTime([list, release])).toISOString(),
  }),
  links: ({ list }, visit) => paginationLinks(list.value.pagination, visit),
  view: ({ list, release }, visit, { app_version, compare_with }) => {
    const { period, releases, trend_dates, pagination } = list.value
    return (
      <>
        <PageHead
          title={release?.value ? releaseTitle(release.value, visit) : 'Releases'}
          context={release?.value ? <ReleaseAge changes={release.value} visit={visit} /> : periodText(period)}
        >
          <DayRange days={period.days} visit={visit} />
        </PageHead>
        <div class="stack">
          {release && (
            <ReleaseChanges changes={release.value} requestedVersion={app_version ?? compare_with} visit={visit}>
              {release.value && <CompareForm changes={release.value} visit={visit} />}
            </ReleaseChanges>
          )}
          {releases.length === 0 ? (
            <Empty title="No releases in this period" code="Tracker.configure({ app_version: process.env.GIT_TAG })">
              Each release is listed with its new, regressed and gone errors. Faultboard reads the version from your
              package.json or the environment. Select a longer range, or set the version in the configuration:
            </Empty>
          ) : (
            <ReleaseTable releases={releases} trend_days={trend_dates.length} visit={visit}>
              {pagination.total_pages > 1 && <Pagination pagination={pagination} visit={visit} />}
            </ReleaseTable>
          )}
          <UpdatedAt at={oldestQueryTime([list, release])} now={visit.now} />
        </div>
      </>
    )
  },
})
