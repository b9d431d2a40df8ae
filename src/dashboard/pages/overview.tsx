import * as v from 'valibot'
import { type Overview, overviewData } from '../../analytics/overview.js'
import { id, optional } from '../../model/input.js'
import { SEVERITIES } from '../../model/severity.js'
import { perform } from '../../operation.js'
import { BarChart } from '../components/charts.js'
import { FirstSteps } from '../components/first-steps.js'
import { NeedsYou } from '../components/needs-you.js'
import { OverviewFigures } from '../components/overview-figures.js'
import { PageHead } from '../components/page-head.js'
import { SmallMultiples } from '../components/small-multiples.js'
import { TopErrors } from '../components/top-errors.js'
import { Totals } from '../components/totals.js'
import { definePage, type Rendered, type Visit } from '../define.js'
import { href, openErrors } from '../href.js'

/** The numbers at a glance, and what needs somebody. */
export const overview = definePage({
  path: '/overview',
  text: 'High-level statistics, what needs somebody, and what hurts most',
  parameters: v.object({ application_id: optional(id()) }),
  load: (context, { application_id }, { last_visit_at }): Promise<Overview> =>
    perform(overviewData, context, { application_id, since: last_visit_at ?? undefined }),
  title: () => 'Overview',
  // The numbers of DashboardStats keep their places; everything else stands beside them.
  json: ({ stats, ...overview }) => ({ ...stats, ...overview }),
  view: (data, visit) => (
    <>
      <PageHead title="Overview" context={`Days are cut in ${visit.time_zone}`}>
        {data.stats.total_errors > 0 && (
          <a class="button primary" href={openErrors(visit)}>
            Open errors
          </a>
        )}
      </PageHead>
      {data.stats.total_errors === 0 ? <FirstSteps visit={visit} /> : <Numbers data={data} visit={visit} />}
    </>
  ),
})

function Numbers({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  return (
    <div class="stack overview">
      <OverviewFigures data={data} visit={visit} />
      <Days data={data} visit={visit} />
      <NeedsYou data={data} visit={visit} />
      <TopErrors data={data} visit={visit} />
      <div class="columns">
        <SmallMultiples
          title="Platforms"
          parameter="platform"
          multiples={data.platforms}
          empty="Nothing occurred within 7 days."
          visit={visit}
        />
        <SmallMultiples
          title="Releases"
          parameter="app_version"
          multiples={data.releases}
          empty={
            <>
              No version is known of what occurred within 7 days. Set <code>app_version</code>, or{' '}
              <code>APP_VERSION</code> in the environment.
            </>
          }
          visit={visit}
        />
      </div>
      <Totals stats={data.stats} visit={visit} />
    </div>
  )
}

function Days({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  return (
    <section class="card" aria-label="Occurrences per day">
      <BarChart
        title="Occurrences in the last 30 days"
        unit="occurrences"
        series={SEVERITIES.map((severity) => ({ key: severity, label: severity, tone: `severity-${severity}` }))}
        bars={data.days.map(({ date, ...values }) => ({
          label: dayName(date, SHORT),
          name: dayName(date, LONG),
          href: href(visit, '/errors', { day: date }),
          values,
        }))}
      />
    </section>
  )
}

const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const LONG = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

/** The date is the local one already. */
function dayName(date: string, format: Intl.DateTimeFormat): string {
  return format.format(new Date(`${date}T00:00:00Z`))
}
