import { type CachedResult, cachedQuery } from '../../analytics/cached-query.js'
import type { ReleaseMarker } from '../../analytics/releases/release-markers.js'
import { definePage, type Visit } from '../../dashboard/define.js'
import { DayChart, type Zoom } from '../../dashboard/ui/charts/day-chart.js'
import { DayRange } from '../../dashboard/ui/day-range.js'
import { Empty } from '../../dashboard/ui/empty.js'
import { UpdatedAt } from '../../dashboard/ui/insight.js'
import { PageHead } from '../../dashboard/ui/layout/page-head.js'
import { NameOrPlaceholder, PlaceLink } from '../../dashboard/ui/place-link.js'
import { formatCount, Time } from '../../dashboard/ui/time.js'
import { OTHERS } from '../../model/frequent-names.js'
import * as r from '../../model/result.js'
import { loadChart } from '../hourly/chart.js'
import { daysKey, daysPageInput } from '../hourly/days.js'
import { sumsPerHour } from '../hourly/hour-slices.js'
import { DeprecationSummary, type DeprecationWarning, deprecations, MAX_DEPRECATIONS } from './query.js'

export const deprecationsPage = definePage({
  path: '/errors/deprecations',
  text: 'Deprecation warnings of Node.js, libraries and the host',
  role: 'viewer',
  parameters: daysPageInput,
  load: (context, parameters): Promise<CachedResult<DeprecationSummary>> =>
    cachedQuery(context, daysKey('deprecations', parameters), () => deprecations.run(context, parameters)),
  loadForHtml: (context, _data, parameters) =>
    loadChart(context, parameters, 'faultboard_deprecation_hours', (condition) =>
      sumsPerHour(context, 'faultboard_deprecation_hours', 'count', condition),
    ),
  response: r.object({ ...DeprecationSummary.entries, counted_at: r.time }),
  title: ({ value: { total_count } }) => (total_count > 0 ? `(${total_count}) Deprecations` : 'Deprecations'),
  json: ({ value, queriedAt }) => ({ ...value, counted_at: new Date(queriedAt).toISOString() }),
  view: ({ value: data, queriedAt, releases, zoom }, visit) => (
    <>
      <PageHead title="Deprecations" context="Deprecated APIs that Node.js, libraries and the application warn about.">
        <DayRange days={data.days} visit={visit} />
      </PageHead>
      {data.total_count === 0 ? (
        <NoWarnings days={data.days} />
      ) : (
        <Warnings data={data} releases={releases} zoom={zoom} visit={visit} />
      )}
      <UpdatedAt at={queriedAt} now={visit.now} />
    </>
  ),
})

const START_COMMAND = 'node --import faultboard/register app.js'

export const pages = [deprecationsPage]
export const navigation = {
  label: 'Deprecations',
  preview: {
    benefit:
      'Find deprecated APIs before an upgrade of Node.js or a library breaks them, with the line that calls each.',
    sample: {
      columns: ['Code', 'Warning', 'Location', 'Warnings'],
      rows: [
        ['DEP0005', 'Buffer() is deprecated due to security and usability issues', 'src/export/csv.js:42', '1,204'],
        ['DEP0169', 'url.parse() behavior is not standardized', 'node_modules/legacy-client/index.js:8', '311'],
      ],
    },
    setup: { text: 'To count warnings of modules that load early, start with:', code: START_COMMAND },
  },
  icon: 'M4 2h8M4 14h8M5 2c0 4 6 8 6 12M11 2c0 4-6 8-6 12',
}

function NoWarnings({ days }: { days: number }) {
  return (
    <Empty title={`No deprecation warnings in the last ${days} days`} code={START_COMMAND}>
      Warnings are counted while <code>enable_deprecation_tracking</code> is on. Node.js emits most warnings once per
      process, some while modules are loaded. To count those too, start the application with:
    </Empty>
  )
}

function Warnings({
  data,
  releases,
  zoom,
  visit,
}: {
  data: DeprecationSummary
  releases: readonly ReleaseMarker[]
  zoom: Zoom | null
  visit: Visit
}) {
  return (
    <div class="stack">
      <DayChart
        title="Warnings"
        unit="warnings"
        series={[{ key: 'count', label: 'Warnings', tone: 'series-1' }]}
        days={data.by_day.map(({ count }) => ({ values: { count } }))}
        releases={releases}
        zoom={zoom}
        finestStep="hour"
        visit={visit}
      />
      <section aria-label="Warnings">
        <ol>
          {data.deprecations.map((warning) => (
            <Warning warning={warning} visit={visit} />
          ))}
        </ol>
        {data.total_count > MAX_DEPRECATIONS && (
          <p class="muted">{`Showing the latest ${MAX_DEPRECATIONS} of ${formatCount(data.total_count)} warnings.`}</p>
        )}
      </section>
    </div>
  )
}

function Warning({ warning, visit }: { warning: DeprecationWarning; visit: Visit }) {
  const { code, message, places, app_versions, count, first_seen_at, last_seen_at } = warning
  return (
    <li class="record counted">
      <div class="record-main">
        <p class="record-title" dir="auto">
          {message === OTHERS ? (
            <NameOrPlaceholder name={OTHERS} emptyLabel="" />
          ) : (
            message || <NameOrPlaceholder name="" emptyLabel="no message" />
          )}
        </p>
        <p>
          {code && <Code code={code} />}{' '}
          {app_versions.length > 0 && <span class="muted">{`in version ${app_versions.join(', ')}`}</span>}
        </p>
        <ul class="handlers">
          {places.map(({ place, count }) => (
            <li>
              {place ? (
                <PlaceLink place={place} visit={visit} />
              ) : (
                <NameOrPlaceholder name="" emptyLabel="unknown location" />
              )}{' '}
              {places.length > 1 && <span class="muted">{count === 1 ? 'once' : `${formatCount(count)} times`}</span>}
            </li>
          ))}
        </ul>
      </div>
      <dl class="record-figures">
        <div>
          <dt>Warnings</dt>
          <dd>{formatCount(count)}</dd>
        </div>
        <div>
          <dt>First seen</dt>
          <dd>
            <Time iso={first_seen_at} visit={visit} />
          </dd>
        </div>
        <div>
          <dt>Last seen</dt>
          <dd>
            <Time iso={last_seen_at} visit={visit} />
          </dd>
        </div>
      </dl>
    </li>
  )
}

/** Links codes of Node.js to its documentation. */
function Code({ code }: { code: string }) {
  if (!/^DEP\d{4}$/.test(code)) return <span class="badge">{code}</span>
  return (
    <a class="badge" href={`https://nodejs.org/api/deprecations.html#${code}`} rel="noreferrer noopener">
      {code}
    </a>
  )
}
