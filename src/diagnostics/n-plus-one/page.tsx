import { type CachedResult, cachedQuery } from '../../analytics/cached-query.js'
import { definePage, type Visit } from '../../dashboard/define.js'
import { BarChart } from '../../dashboard/ui/charts.js'
import { Empty } from '../../dashboard/ui/empty.js'
import { UpdatedAt } from '../../dashboard/ui/insight.js'
import { PageHead } from '../../dashboard/ui/page-head.js'
import { Named, PlaceLink } from '../../dashboard/ui/place-link.js'
import { StoredRange } from '../../dashboard/ui/stored-range.js'
import { formatCount, longDate, shortDate, Time } from '../../dashboard/ui/time.js'
import { formatMilliseconds } from '../../dashboard/ui/units.js'
import { daysInput } from '../hourly/days.js'
import { LISTED_STATEMENTS, type NPlusOneQueries, nPlusOneQueries, type RepeatedStatement } from './query.js'
import { nPlusOneResponse } from './response.js'

/** Statements that one request or job ran again and again. */
export const nPlusOnePage = definePage({
  path: '/errors/n_plus_one',
  text: 'Statements that one request or job ran again and again',
  parameters: daysInput,
  load: (context, parameters): Promise<CachedResult<NPlusOneQueries>> =>
    cachedQuery(context, `n plus one ${parameters.days} ${parameters.application_id}`, () =>
      nPlusOneQueries.run(context, parameters),
    ),
  response: nPlusOneResponse,
  title: ({ value: { total_count } }) => (total_count > 0 ? `(${total_count}) N+1 queries` : 'N+1 queries'),
  json: ({ value, queriedAt }) => ({ ...value, counted_at: new Date(queriedAt).toISOString() }),
  view: ({ value: data, queriedAt }, visit) => (
    <>
      <PageHead
        title="N+1 queries"
        context={`Statements that one request or job ran ${data.threshold} times or more. One statement for all rows would do.`}
      >
        <StoredRange days={data.days} visit={visit} />
      </PageHead>
      {data.total_count === 0 ? <Nothing days={data.days} /> : <Statements data={data} visit={visit} />}
      <UpdatedAt at={queriedAt} now={visit.now} />
    </>
  ),
})

export const pages = [nPlusOnePage]
export const navigation = {
  label: 'N+1 queries',
  icon: 'M3 6.5h8.5L9 4M13 9.5H4.5L7 12',
}

const WATCH = `import pg from 'pg'
import { instrumentPg } from 'faultboard/pg'

instrumentPg(pg) // mysql2: instrumentMysql2() of faultboard/mysql2`

function Nothing({ days }: { days: number }) {
  return (
    <Empty title={`No statement ran again and again in ${days} days`} code={WATCH}>
      Statements are counted in every request and job while <code>detect_n_plus_one_queries</code> is on and their
      driver is watched:
    </Empty>
  )
}

function Statements({ data, visit }: { data: NPlusOneQueries; visit: Visit }) {
  return (
    <div class="stack">
      <BarChart
        title="Repeated statements per day"
        unit="repeated statements"
        series={[{ key: 'count', label: 'Repeated statements', tone: 'series-1' }]}
        bars={data.by_day.map(({ day, count }) => ({ label: shortDate(day), name: longDate(day), values: { count } }))}
      />
      <section aria-label="Statements">
        <ol class="records">
          {data.statements.map((statement) => (
            <Statement statement={statement} visit={visit} />
          ))}
        </ol>
        {data.total_count > LISTED_STATEMENTS && (
          <p class="muted">{`The ${LISTED_STATEMENTS} that ran most often, of ${formatCount(data.total_count)}.`}</p>
        )}
      </section>
    </div>
  )
}

function Statement({ statement: one, visit }: { statement: RepeatedStatement; visit: Visit }) {
  return (
    <li class="record counted">
      <div class="record-main">
        <p class="record-title">
          <Named name={one.statement} nothing="unknown" />
        </p>
        <ul class="handlers">
          {one.callers.map(({ route, place, worst_count }) => (
            <li>
              <Named name={route} nothing="outside of a request" />{' '}
              {place && (
                <>
                  <span class="muted">in</span> <PlaceLink place={place} visit={visit} />{' '}
                </>
              )}
              {one.callers.length > 1 && <span class="muted">{`up to ${formatCount(worst_count)} times`}</span>}
            </li>
          ))}
        </ul>
      </div>
      <dl class="record-figures">
        <div>
          <dt>Worst request</dt>
          <dd>{`${formatCount(one.worst_count)} times`}</dd>
        </div>
        <div>
          <dt>Requests</dt>
          <dd>{formatCount(one.request_count)}</dd>
        </div>
        <div>
          <dt>Time spent</dt>
          <dd>{formatMilliseconds(one.duration_ms)}</dd>
        </div>
        <div>
          <dt>Last seen</dt>
          <dd>
            <Time iso={one.last_seen_at} visit={visit} />
          </dd>
        </div>
      </dl>
    </li>
  )
}
