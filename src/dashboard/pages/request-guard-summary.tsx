import { daysInput } from '../../diagnostics/days.js'
import { GUARD_KINDS, type RequestGuardSummary, requestGuardSummary } from '../../diagnostics/request-guard.js'
import { perform } from '../../operation.js'
import { BarChart, type Share, ShareBars } from '../components/charts.js'
import { Empty } from '../components/empty.js'
import { PageHead } from '../components/page-head.js'
import { PlannedNote, StoredRange } from '../components/stored-range.js'
import { formatCount, Time } from '../components/time.js'
import { definePage, type Visit } from '../define.js'

/** What the host's rate limiters refused or watched. */
export const requestGuardSummaryPage = definePage({
  path: '/errors/request_guard_summary',
  text: 'Summary of throttle, blocklist and track events of the request guard',
  needs: ['enable_request_guard_tracking', 'enable_breadcrumbs'],
  parameters: daysInput,
  load: (context, parameters): Promise<RequestGuardSummary> => perform(requestGuardSummary, context, parameters),
  title: () => 'Request guard',
  json: (data) => data,
  view: (data, visit) => (
    <>
      <PageHead
        title="Request guard"
        context="What rate limiters refused or watched, whether or not the request failed."
      >
        <StoredRange days={data.days} visit={visit} />
      </PageHead>
      <PlannedNote option="enable_request_guard_tracking" />
      {data.total_count === 0 ? (
        <Empty title={`No event in ${data.days} days`}>
          Here stand the throttle, blocklist and track events of the host's rate limiters by rule, address and path,
          while <code>enable_request_guard_tracking</code> and <code>enable_breadcrumbs</code> are on.
        </Empty>
      ) : (
        <Summary data={data} visit={visit} />
      )}
    </>
  ),
})

const KINDS = {
  throttle: { label: 'Throttled', tone: 'series-1' },
  blocklist: { label: 'Blocked', tone: 'severity-critical' },
  track: { label: 'Tracked', tone: 'series-2' },
} as const

function Summary({ data, visit }: { data: RequestGuardSummary; visit: Visit }) {
  return (
    <div class="stack">
      <dl class="totals">
        {GUARD_KINDS.map((kind) => (
          <div>
            <dt>{KINDS[kind].label}</dt>
            <dd>{formatCount(data.by_kind[kind])}</dd>
          </div>
        ))}
      </dl>
      <BarChart
        title="Events per day"
        unit="events"
        series={GUARD_KINDS.map((kind) => ({ key: kind, ...KINDS[kind] }))}
        bars={data.by_day.map(({ day, ...values }) => ({ label: day.slice(5), name: day, values }))}
      />
      <div class="columns">
        <Rules data={data} visit={visit} />
        <Ranking title="Addresses" rows={data.by_address.map(({ ip_address, count }) => shareOf(ip_address, count))} />
        <Ranking title="Paths" rows={data.by_path.map(({ path, count }) => shareOf(path, count))} />
      </div>
    </div>
  )
}

function shareOf(name: string, value: number): Share {
  return { label: name === '' ? <span class="muted">unknown</span> : <code>{name}</code>, value }
}

function Ranking({ title, rows }: { title: string; rows: readonly Share[] }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <ShareBars title={title} rows={rows} />
    </section>
  )
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
              Events
            </th>
          </tr>
        </thead>
        <tbody>
          {data.by_rule.map(({ rule, kind, count, last_seen_at }) => (
            <tr>
              <th scope="row">
                {rule || <span class="muted">unnamed</span>} <span class="badge">{kind}</span>
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
