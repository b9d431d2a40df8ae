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
import { formatMilliseconds } from '../../dashboard/ui/units.js'
import * as r from '../../model/result.js'
import { loadChart } from '../hourly/chart.js'
import { daysKey, daysPageInput } from '../hourly/days.js'
import { sumsPerHour } from '../hourly/hour-slices.js'
import { MAX_STATEMENTS, NPlusOneQueries, nPlusOneQueries, type RepeatedStatement } from './query.js'

export const nPlusOnePage = definePage({
  path: '/errors/n_plus_one',
  text: 'Statements that one request or job ran repeatedly',
  role: 'viewer',
  parameters: daysPageInput,
  load: (context, parameters): Promise<CachedResult<NPlusOneQueries>> =>
    cachedQuery(context, daysKey('n plus one', parameters), () => nPlusOneQueries.run(context, parameters)),
  loadForHtml: (context, _data, parameters) =>
    loadChart(context, parameters, 'faultboard_repeated_statement_hours', (condition) =>
      sumsPerHour(context, 'faultboard_repeated_statement_hours', 'request_count', condition),
    ),
  response: r.object({ ...NPlusOneQueries.entries, counted_at: r.time }),
  title: ({ value: { total_count } }) => (total_count > 0 ? `(${total_count}) N+1 queries` : 'N+1 queries'),
  json: ({ value, queriedAt }) => ({ ...value, counted_at: new Date(queriedAt).toISOString() }),
  view: ({ value: data, queriedAt, releases, zoom }, visit) => (
    <>
      <PageHead
        title="N+1 queries"
        context={`Statements that one request or job ran ${data.threshold} times or more. Replace them with one statement for all rows.`}
      >
        <DayRange days={data.days} visit={visit} />
      </PageHead>
      {data.total_count === 0 ? (
        <NoStatements days={data.days} />
      ) : (
        <Statements data={data} releases={releases} zoom={zoom} visit={visit} />
      )}
      <UpdatedAt at={queriedAt} now={visit.now} />
    </>
  ),
})

const INSTRUMENT_CODE = `import pg from 'pg'
import { instrumentPg } from 'faultboard/pg'

instrumentPg(pg) // mysql2: instrumentMysql2() from faultboard/mysql2`

export const pages = [nPlusOnePage]
export const navigation = {
  label: 'N+1 queries',
  preview: {
    benefit: 'Find statements that one request repeats for every row, with route, line and time spent.',
    sample: {
      columns: ['Statement', 'Route', 'Location', 'Worst request', 'Time spent'],
      rows: [
        ['select * from prices where product_id = ?', 'GET /orders/:id', 'src/orders/lines.js:31', '212 times', '48 s'],
        ['select name from users where id = ?', 'GET /reviews', 'src/reviews/list.js:14', '50 times', '6.2 s'],
      ],
    },
    setup: { text: 'Then instrument the database driver:', code: INSTRUMENT_CODE },
  },
  icon: 'M3 6.5h8.5L9 4M13 9.5H4.5L7 12',
}

function NoStatements({ days }: { days: number }) {
  return (
    <Empty title={`No N+1 queries in the last ${days} days`} code={INSTRUMENT_CODE}>
      Statements are counted in every request and job while <code>detect_n_plus_one_queries</code> is on and the
      database driver is instrumented:
    </Empty>
  )
}

function Statements({
  data,
  releases,
  zoom,
  visit,
}: {
  data: NPlusOneQueries
  releases: readonly ReleaseMarker[]
  zoom: Zoom | null
  visit: Visit
}) {
  return (
    <div class="stack">
      <DayChart
        title="Repeated statements"
        unit="repeated statements"
        series={[{ key: 'count', label: 'Repeated statements', tone: 'series-1' }]}
        days={data.by_day.map(({ count }) => ({ values: { count } }))}
        releases={releases}
        zoom={zoom}
        finestStep="hour"
        visit={visit}
      />
      <section aria-label="Statements">
        <ol>
          {data.statements.map((statement) => (
            <Statement statement={statement} visit={visit} />
          ))}
        </ol>
        {data.total_count > MAX_STATEMENTS && (
          <p class="muted">{`Showing the top ${MAX_STATEMENTS} of ${formatCount(data.total_count)} statements.`}</p>
        )}
      </section>
    </div>
  )
}

function Statement({ statement: repeated, visit }: { statement: RepeatedStatement; visit: Visit }) {
  return (
    <li class="record counted">
      <div class="record-main">
        <p class="record-title">
          <NameOrPlaceholder name={repeated.statement} emptyLabel="unknown" />
        </p>
        <ul class="handlers">
          {repeated.callers.map(({ route, place, worst_count }) => (
            <li>
              <NameOrPlaceholder name={route} emptyLabel="outside a request" />{' '}
              {place && (
                <>
                  <span class="muted">in</span> <PlaceLink place={place} visit={visit} />{' '}
                </>
              )}
              {repeated.callers.length > 1 && <span class="muted">{`up to ${formatCount(worst_count)} times`}</span>}
            </li>
          ))}
        </ul>
      </div>
      <dl class="record-figures">
        <div>
          <dt>Worst request</dt>
          <dd>{`${formatCount(repeated.worst_count)} times`}</dd>
        </div>
        <div>
          <dt>Requests</dt>
          <dd>{formatCount(repeated.request_count)}</dd>
        </div>
        <div>
          <dt>Time spent</dt>
          <dd>{formatMilliseconds(repeated.duration_ms)}</dd>
        </div>
        <div>
          <dt>Last seen</dt>
          <dd>
            <Time iso={repeated.last_seen_at} visit={visit} />
          </dd>
        </div>
      </dl>
    </li>
  )
}
