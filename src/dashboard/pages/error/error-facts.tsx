import type { ReleaseMarker } from '../../../analytics/releases/release-markers.js'
import type { ChartSpan } from '../../../model/chart-span.js'
import { PRIORITIES } from '../../../model/workflow.js'
import type { ErrorHistory } from '../../../triage/queries/error-history.js'
import type { ErrorUsers } from '../../../triage/queries/error-users.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import {
  ChartRangeTabs,
  releaseLines,
  SpanName,
  SpanZoneNote,
  spanAxis,
  spanBars,
} from '../../ui/charts/chart-range.js'
import { BarChart } from '../../ui/charts/charts.js'
import { ExactTime, formatCount, Time } from '../../ui/time.js'
import type { ErrorProps } from './actions/error-form.js'
import { MutedUntil } from './actions/muted.js'
import { Reference } from './reference.js'

/** Number of occurrences and affected users. */
export function ErrorFigures({ record }: Pick<ErrorProps, 'record'>): Rendered {
  return (
    <div class="error-figures">
      <p>
        <strong>{formatCount(record.occurrence_count)}</strong>{' '}
        <span class="muted">{record.occurrence_count === 1 ? 'occurrence' : 'occurrences'}</span>
      </p>
      {record.user_count === 0 ? (
        <p class="muted">No user data</p>
      ) : (
        <p>
          <strong>{formatCount(record.user_count)}</strong>{' '}
          <span class="muted">{record.user_count === 1 ? 'user' : 'users'}</span>
        </p>
      )}
    </div>
  )
}

/** State of the error, and values that all occurrences share. Omits what the head of the page shows. */
export function ErrorFacts({
  record,
  history,
  users,
  visit,
}: ErrorProps & { history: ErrorHistory; users: ErrorUsers }): Rendered {
  const { first_app_version, last_app_version } = record
  const user = onlyUser(users)?.user_id
  const version = onlyItem(history.app_versions)?.app_version
  const platform = onlyItem(history.platforms)?.platform
  return (
    <section class="panel" aria-labelledby="facts-title">
      <h2 id="facts-title" class="hidden">
        Summary
      </h2>
      <dl class="facts">
        <FactLink
          label="Assignee"
          value={record.assigned_to}
          href={href(visit, '/errors', { assigned_to: record.assigned_to })}
        />
        {record.priority_level > 0 && <FactText label="Priority" value={PRIORITIES[record.priority_level]} />}
        <FactLink label="User" value={user} href={href(visit, '/errors', { user_id: user })} />
        {first_app_version !== last_app_version && <FactText label="First version" value={first_app_version} />}
        {version !== last_app_version && <FactText label="Version" value={version} />}
        <FactLink label="Platform" value={platform} href={href(visit, '/errors', { platform })} />
        {record.git_sha && (
          <>
            <dt>Commit</dt>
            <dd>
              <code title={record.git_sha}>{record.git_sha.slice(0, 12)}</code>
            </dd>
          </>
        )}
        {record.snoozed && record.snoozed_until && (
          <>
            <dt>Snoozed until</dt>
            <dd>
              <ExactTime iso={record.snoozed_until} visit={visit} />
              {record.snooze_reason && <p class="muted">{record.snooze_reason}</p>}
            </dd>
          </>
        )}
        {record.muted && (
          <>
            <dt>Muted</dt>
            <dd dir="auto">
              <MutedUntil error={record} visit={visit} />
              {record.mute_reason && <p class="muted kept-lines">{record.mute_reason}</p>}
            </dd>
          </>
        )}
        {record.resolved && <Resolution record={record} visit={visit} />}
        {!record.resolved && record.reopened_at && (
          <>
            <dt>Reopened</dt>
            <dd>
              <Time iso={record.reopened_at} visit={visit} />
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

interface FactProps {
  label: string
  value: string | null | undefined
}

function FactText({ label, value }: FactProps): Rendered {
  if (!value) return null
  return (
    <>
      <dt>{label}</dt>
      <dd dir="auto">{value}</dd>
    </>
  )
}

function FactLink({ label, value, href }: FactProps & { href: string }): Rendered {
  if (!value) return null
  return (
    <>
      <dt>{label}</dt>
      <dd dir="auto">
        <a href={href}>{value}</a>
      </dd>
    </>
  )
}

export function onlyItem<Item>(items: readonly Item[]): Item | undefined {
  return items.length === 1 ? items[0] : undefined
}

/** The only affected user. Undefined if only the users of the newest occurrences were compared. */
export function onlyUser({ users, scope }: ErrorUsers): ErrorUsers['users'][number] | undefined {
  return scope === 'all' ? onlyItem(users) : undefined
}

export function occurrencesText(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'occurrence' : 'occurrences'}`
}

function Resolution({ record, visit }: ErrorProps): Rendered {
  return (
    <>
      <dt>Resolved</dt>
      <dd dir="auto">
        {record.resolved_by_name} {record.resolved_at && <Time iso={record.resolved_at} visit={visit} />}
        {record.resolution_comment && <p class="kept-lines">{record.resolution_comment}</p>}
        {record.resolution_reference && (
          <p>
            <Reference text={record.resolution_reference} />
          </p>
        )}
      </dd>
    </>
  )
}

const SERIES = [{ key: 'count', label: 'Occurrences', tone: 'series-1' }]
const FRAGMENT = '#histogram'

/** Occurrences over time with the releases of the application. */
export function Histogram({
  bars,
  releases,
  ...props
}: {
  bars: ErrorHistory['bars']
  releases: readonly ReleaseMarker[]
  span: ChartSpan
  visit: Visit
}): Rendered {
  const chart = { ...props, fragment: FRAGMENT }
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  return (
    <section class="panel" id="histogram" aria-labelledby="histogram-title">
      <h2 id="histogram-title" class="hidden">
        Occurrences over time
      </h2>
      <ChartRangeTabs {...chart} />
      <BarChart
        title={occurrencesText(total)}
        bars={spanBars(
          chart,
          bars.map(({ count }) => ({ count })),
        ).map(({ href: _, ...bar }) => bar)}
        axis={spanAxis(props.span, props.visit)}
        series={SERIES}
        unit="occurrences"
        markers={releaseLines(releases, { ...chart, isOfOneApplication: true })}
      />
      <p class="meta muted">
        <SpanName {...props} />
        {' · '}
        <SpanZoneNote {...props} />
      </p>
    </section>
  )
}
