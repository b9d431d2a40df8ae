import * as v from 'valibot'
import { cachedQuery, oldestQueryTime } from '../../../analytics/cached-query.js'
import { StrongCascade, strongestCascades } from '../../../analytics/cascades/strongest-cascades.js'
import { joinOverview, loadLiveOverview, loadRecentOverview, Overview } from '../../../analytics/overview/overview.js'
import { id, optional } from '../../../model/input/input.js'
import * as r from '../../../model/result.js'
import { SEVERITIES } from '../../../model/severity/severity.js'
import { DAY } from '../../../model/time.js'
import { definePage, type Rendered, type Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import { BarChart } from '../../ui/charts/charts.js'
import { UpdatedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { longDate, shortDate } from '../../ui/time.js'
import { StrongestCascades } from '../analytics/cascades.js'
import { FirstSteps } from './first-steps.js'
import { AttentionSummary, NeedsAttention } from './needs-attention.js'
import { OverviewFigures } from './overview-figures.js'
import { SmallMultiples } from './small-multiples.js'
import { TopErrors } from './top-errors.js'
import { Totals } from './totals.js'

interface OverviewPage extends Overview {
  cascades: StrongCascade[]
  /** When the figures of the last days were calculated. */
  counted_at: number
}

const { stats, ...sections } = Overview.entries
const response = r.object({
  // The specification defines the fields of DashboardStats at the top level.
  ...stats.entries,
  ...sections,
  cascades: r.list(StrongCascade),
  counted_at: r.time,
})

const MAX_CASCADES = 3
const CASCADE_DAYS = 7

export const overview = definePage({
  path: '/overview',
  text: 'Key figures, errors that need attention and top errors by impact',
  parameters: v.object({ application_id: optional(id()) }),
  async load(context, { application_id }, { last_visit_at, now }): Promise<OverviewPage> {
    await context.ready()
    const since = last_visit_at ?? undefined
    const [recent, cascades] = await Promise.all([
      cachedQuery(context, `overview ${application_id}`, () => loadRecentOverview(context, application_id)),
      cachedQuery(context, `overview cascades ${application_id}`, () =>
        strongestCascades(context, { application_id }, now - CASCADE_DAYS * DAY, MAX_CASCADES),
      ),
    ])
    const current = await loadLiveOverview(context, { application_id, since }, recent.value)
    return {
      ...joinOverview(current, recent.value),
      cascades: cascades.value,
      counted_at: oldestQueryTime([recent, cascades]),
    }
  },
  title: () => 'Overview',
  response,
  json: ({ stats, counted_at, ...overview }) => ({
    ...stats,
    ...overview,
    counted_at: new Date(counted_at).toISOString(),
  }),
  view: (data, visit) => (
    <>
      <PageHead
        title="Overview"
        context={
          <>
            {data.stats.total_errors > 0 && (
              <>
                <AttentionSummary data={data} visit={visit} /> ·{' '}
              </>
            )}
            {`Days in ${visit.time_zone}`}
          </>
        }
      >
        {data.stats.total_errors > 0 && (
          <a class="button primary" href={openErrorsLink(visit)}>
            Open errors
          </a>
        )}
      </PageHead>
      {data.stats.total_errors === 0 ? <FirstSteps visit={visit} /> : <OverviewPanels data={data} visit={visit} />}
    </>
  ),
})

function OverviewPanels({ data, visit }: { data: OverviewPage; visit: Visit }): Rendered {
  return (
    <div class="stack">
      <OverviewFigures data={data} visit={visit} />
      <DailyChart data={data} visit={visit} />
      <NeedsAttention data={data} visit={visit} />
      <TopErrors data={data} visit={visit} />
      {data.cascades.length > 0 && <StrongestCascades cascades={data.cascades} visit={visit} />}
      <div class="columns">
        <SmallMultiples
          title="Platforms"
          linkFor={(platform) => href(visit, '/errors', { platform, timeframe: 'last_7_days' })}
          multiples={data.platforms}
          empty="No occurrences in the last 7 days."
        />
        <SmallMultiples
          title="Releases"
          linkFor={(app_version) => href(visit, '/releases', { app_version })}
          multiples={data.releases}
          empty={
            <>
              No releases in the last 7 days. Set <code>app_version</code>, or <code>APP_VERSION</code> in the
              environment.
            </>
          }
        />
      </div>
      <Totals stats={data.stats} visit={visit} />
      <UpdatedAt at={data.counted_at} now={visit.now} />
    </div>
  )
}

function DailyChart({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  return (
    <section class="card" aria-label="Occurrences per day">
      <BarChart
        title="Occurrences in the last 30 days"
        unit="occurrences"
        series={SEVERITIES.map((severity) => ({ key: severity, label: severity, tone: `severity-${severity}` }))}
        bars={data.days.map(({ date, ...values }) => ({
          label: shortDate(date),
          name: longDate(date),
          href: href(visit, '/errors', { day: date }),
          values,
        }))}
      />
    </section>
  )
}
