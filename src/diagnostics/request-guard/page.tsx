import { type CachedResult, cachedQuery } from '../../analytics/cached-query.js'
import type { ReleaseMarker } from '../../analytics/releases/release-markers.js'
import { definePage, type Visit } from '../../dashboard/define.js'
import { type Share, ShareBars } from '../../dashboard/ui/charts/charts.js'
import { DayChart, type Zoom } from '../../dashboard/ui/charts/day-chart.js'
import { DayRange } from '../../dashboard/ui/day-range.js'
import { Empty } from '../../dashboard/ui/empty.js'
import { UpdatedAt } from '../../dashboard/ui/insight.js'
import { PageHead } from '../../dashboard/ui/layout/page-head.js'
import { NameOrPlaceholder } from '../../dashboard/ui/place-link.js'
import { formatCount, Time } from '../../dashboard/ui/time.js'
import { OTHERS } from '../../model/frequent-names.js'
import * as r from '../../model/result.js'
import { loadChart } from '../hourly/chart.js'
import { daysKey, daysPageInput } from '../hourly/days.js'
import { GUARD_KINDS } from './guard-kinds.js'
import { eventsPerHour, RequestGuardSummary, requestGuardSummary } from './query.js'

export const requestGuardSummaryPage = definePage({
  path: '/errors/request_guard_summary',
  text: 'Summary of throttle, blocklist and track events of the request guard',
  role: 'viewer',
  parameters: daysPageInput,
  load: (context, parameters): Promise<CachedResult<RequestGuardSummary>> =>
    cachedQuery(context, daysKey('request guard', parameters), () => requestGuardSummary.run(context, parameters)),
  loadForHtml: (context, _data, parameters) =>
    loadChart(context, parameters, 'faultboard_request_guard_hours', (condition) => eventsPerHour(context, condition)),
  response: r.object({ ...RequestGuardSummary.entries, counted_at: r.time }),
  title: () => 'Rate limits',
  json: ({ value, queriedAt }) => ({ ...value, counted_at: new Date(queriedAt).toISOString() }),
  view: ({ value: data, queriedAt, releases, zoom }, visit) => (
    <>
      <PageHead title="Rate limits" context="Requests that rate limiters rejected or tracked.">
        <DayRange days={data.days} visit={visit} />
      </PageHead>
      {data.total_count === 0 ? (
        <Empty title={`No limited requests in the last ${data.days} days`} code={RECORD_CODE}>
          Requests that rate limiters reject or track appear here by rule, address and path. Connect the limiter once:
          express-rate-limit, rate-limiter-flexible and @fastify/rate-limit need one line each. For other limiters, use:
        </Empty>
      ) : (
        <Summary data={data} releases={releases} zoom={zoom} visit={visit} />
      )}
      <UpdatedAt at={queriedAt} now={visit.now} />
    </>
  ),
})

const RECORD_CODE = "Tracker.requestGuard.record({ kind: 'throttle', rule: 'sign-in', request })"

export const pages = [requestGuardSummaryPage]
export const navigation = {
  label: 'Rate limits',
  preview: {
    benefit: 'See which rules of your rate limiter reject requests, from which addresses and on which paths.',
    sample: {
      columns: ['Rule', 'Kind', 'Most frequent address', 'Path', 'Requests'],
      rows: [
        ['sign-in', 'throttle', '203.0.113.7', '/login', '18,204'],
        ['known-scanners', 'blocklist', '198.51.100.23', '/wp-login.php', '4,410'],
        ['api-quota', 'track', '192.0.2.81', '/api/v1/search', '962'],
      ],
    },
    setup: { text: 'Then connect the rate limiter, for example:', code: RECORD_CODE },
  },
  icon: 'M8 1.8 13 4v4c0 3-2.2 5.2-5 6.2C5.2 13.2 3 11 3 8V4Z',
}

const KIND_STYLES = {
  throttle: { label: 'Throttled', tone: 'series-1' },
  blocklist: { label: 'Blocked', tone: 'severity-critical' },
  track: { label: 'Tracked', tone: 'series-2' },
} as const

function Summary({
  data,
  releases,
  zoom,
  visit,
}: {
  data: RequestGuardSummary
  releases: readonly ReleaseMarker[]
  zoom: Zoom | null
  visit: Visit
}) {
  return (
    <div class="stack">
      <dl class="figure-row">
        {GUARD_KINDS.map((kind) => (
          <div>
            <dt>{KIND_STYLES[kind].label}</dt>
            <dd class="figure-value">{formatCount(data.by_kind[kind])}</dd>
          </div>
        ))}
      </dl>
      <DayChart
        title="Requests"
        unit="requests"
        series={GUARD_KINDS.map((kind) => ({ key: kind, ...KIND_STYLES[kind] }))}
        days={data.by_day.map(({ day, ...values }) => ({ values }))}
        releases={releases}
        zoom={zoom}
        finestStep="hour"
        visit={visit}
      />
      <div class="columns">
        <Rules data={data} visit={visit} />
        <Ranking
          title="Addresses"
          rows={data.by_address.map(({ ip_address, count }) => ({ name: ip_address, count }))}
        />
        <Ranking title="Paths" rows={data.by_path.map(({ path, count }) => ({ name: path, count }))} />
      </div>
    </div>
  )
}

interface RankedName {
  name: string
  count: number
}

const MAX_VISIBLE_BARS = 12

/** Most frequent names. The combined rest is shown below, so that it does not dominate the chart. */
function Ranking({ title, rows }: { title: string; rows: readonly RankedName[] }) {
  const named = rows.filter(({ name }) => name !== OTHERS).map(toShare)
  const combined = rows.find(({ name }) => name === OTHERS)
  return (
    <section class="card ranking">
      <h2>{title}</h2>
      <ShareBars title={title} rows={named.slice(0, MAX_VISIBLE_BARS)} />
      {named.length > MAX_VISIBLE_BARS && (
        <details>
          <summary>{`${named.length - MAX_VISIBLE_BARS} more`}</summary>
          <ShareBars title={`More ${title.toLowerCase()}`} rows={named.slice(MAX_VISIBLE_BARS)} max={named[0]?.value} />
        </details>
      )}
      {combined && <p class="muted">{`Other (combined): ${formatCount(combined.count)}`}</p>}
    </section>
  )
}

function toShare({ name, count }: RankedName): Share {
  return { label: <NameOrPlaceholder name={name} emptyLabel="unknown" />, value: count }
}

function Rules({ data, visit }: { data: RequestGuardSummary; visit: Visit }) {
  return (
    <section class="card">
      <h2>Rules</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col" class="number">
              Last seen
            </th>
            <th scope="col" class="number">
              Requests
            </th>
          </tr>
        </thead>
        <tbody>
          {data.by_rule.map(({ rule, kind, count, last_seen_at }) => (
            <tr>
              <th scope="row">
                <span class="rule" dir="auto">
                  {rule || <span class="muted">unnamed</span>}
                </span>{' '}
                <span class="badge">{kind}</span>
              </th>
              <td class="number">
                <Time iso={last_seen_at} visit={visit} />
              </td>
              <td class="number">{formatCount(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
