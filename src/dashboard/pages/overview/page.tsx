import * as v from 'valibot'
import { cachedQuery } from '../../../analytics/cached-query.js'
import { loadLiveOverview, loadRecentOverview, mergeOverview, Overview } from '../../../analytics/overview/overview.js'
import { type ChartSpan, chartSpan, chartSpanInput } from '../../../model/chart-span.js'
import { scopeInput, scopeKey } from '../../../model/input/scope.js'
import * as r from '../../../model/result.js'
import { SEVERITIES } from '../../../model/severity/severity.js'
import { definePage, type Rendered, type Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import {
  ChartRangeTabs,
  releaseLines,
  SpanName,
  SpanZoneNote,
  spanAxis,
  spanBars,
} from '../../ui/charts/chart-range.js'
import { BarChart, ShareBars } from '../../ui/charts/charts.js'
import { FirstRun } from '../../ui/first-run.js'
import { UpdatedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { applicationNote, releasePath } from '../../ui/release-link.js'
import { LiveList } from '../errors/live-list.js'
import { AttentionSummary, NeedsAttention } from './needs-attention.js'
import { OverviewFigures } from './overview-figures.js'
import { TopErrors } from './top-errors.js'

interface OverviewPage extends Overview {
  span: ChartSpan
  /** Time of the calculation of the cached figures. */
  counted_at: number
}

const { stats, ...sections } = Overview.entries
const response = r.object({
  // The specification defines the fields of DashboardStats at the top level.
  ...stats.entries,
  ...sections,
  counted_at: r.time,
})

export const overview = definePage({
  path: '/overview',
  text: 'Errors that need attention, key figures and top errors by impact',
  role: 'viewer',
  parameters: v.object({ ...scopeInput, ...chartSpanInput }),
  async load(
    context,
    { application_id, environment, ...selected },
    { last_visit_at, now, time_zone },
  ): Promise<OverviewPage> {
    const span = chartSpan(selected, now, time_zone)
    await context.ready()
    const since = last_visit_at ?? undefined
    const scope = { application_id, environment }
    const cacheKey = `overview ${scopeKey(scope)} ${span.range ?? `${span.from} ${span.to}`}`
    const recent = await cachedQuery(context, cacheKey, () => loadRecentOverview(context, scope, span))
    const current = await loadLiveOverview(context, { scope, since, span }, recent.value)
    return { ...mergeOverview(current, recent.value), span, counted_at: recent.queriedAt }
  },
  title: () => 'Overview',
  response,
  json: ({ stats, counted_at, span, ...overview }) => ({
    ...stats,
    ...overview,
    counted_at: new Date(counted_at).toISOString(),
  }),
  view: (data, visit) => (
    <>
      <PageHead
        title="Overview"
        context={data.stats.total_errors > 0 && <AttentionSummary data={data} visit={visit} />}
      >
        {data.stats.total_errors > 0 && (
          <a class="button primary" href={openErrorsLink(visit)}>
            Open errors
          </a>
        )}
      </PageHead>
      {data.stats.total_errors === 0 ? (
        <LiveList visit={visit} filter={{}}>
          <FirstRun visit={visit} />
        </LiveList>
      ) : (
        <OverviewPanels data={data} visit={visit} />
      )}
    </>
  ),
})

function OverviewPanels({ data, visit }: { data: OverviewPage; visit: Visit }): Rendered {
  return (
    <div class="stack">
      <NeedsAttention data={data} visit={visit} />
      <div class="period-head" id="period">
        <h2>
          <SpanName span={data.span} visit={visit} />
        </h2>
        <span class="muted">
          <SpanZoneNote span={data.span} visit={visit} />
        </span>
        <ChartRangeTabs span={data.span} visit={visit} fragment={FRAGMENT} />
      </div>
      <OverviewFigures data={data} visit={visit} />
      <OccurrenceChart data={data} visit={visit} />
      <TopErrors data={data} visit={visit} />
      <div class="columns">
        <Ranking
          title="Platforms"
          rows={data.platforms}
          link={({ name }) => href(visit, '/errors', { platform: name })}
          empty="No occurrences."
        />
        <Ranking
          title="Releases"
          rows={data.releases}
          link={({ application_id, name }) => releasePath({ application_id, app_version: name }, visit)}
          note={(release) => applicationNote(release, visit)}
          empty={
            <>
              No releases. Set <code>app_version</code>, or <code>APP_VERSION</code> in the environment.
            </>
          }
        />
      </div>
      <UpdatedAt at={data.counted_at} now={visit.now} />
    </div>
  )
}

const FRAGMENT = '#period'

function OccurrenceChart({ data, visit }: { data: OverviewPage; visit: Visit }): Rendered {
  const chart = { span: data.span, visit, fragment: FRAGMENT }
  return (
    <section class="card" aria-label="Occurrences over time">
      <BarChart
        title="Occurrences"
        unit="occurrences"
        axis={spanAxis(data.span, visit)}
        series={SEVERITIES.map((severity) => ({ key: severity, label: severity, tone: `severity-${severity}` }))}
        bars={spanBars(
          chart,
          data.bars.map(({ starts_at, ...values }) => values),
        )}
        markers={releaseLines(data.release_markers, chart)}
      />
    </section>
  )
}

/** Platforms or releases with the most occurrences in the period. */
function Ranking<Row extends { name: string; total: number }>({
  title,
  rows,
  link,
  note = () => '',
  empty,
}: {
  title: string
  rows: readonly Row[]
  link(row: Row): string
  /** Text after the name. */
  note?(row: Row): string
  empty: Rendered
}): Rendered {
  return (
    <section class="card">
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="muted">{empty}</p>
      ) : (
        <ShareBars
          title={`${title}, by occurrences`}
          heading={title}
          rows={rows.map((row) => ({ label: `${row.name}${note(row)}`, value: row.total, href: link(row) }))}
        />
      )}
    </section>
  )
}
