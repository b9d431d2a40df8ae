import type { ClientSource } from '../../../model/event.js'
import { PRIORITIES } from '../../../model/workflow.js'
import type { ErrorHistory } from '../../../triage/queries/error-history.js'
import type { Rendered, Visit } from '../../define.js'
import { href, sameWith } from '../../href.js'
import { BarChart } from '../../ui/charts.js'
import { Tabs } from '../../ui/tabs.js'
import { exactTime, formatCount, longDate, shortDate, Time } from '../../ui/time.js'
import type { ErrorProps } from './error-form.js'
import { muteText } from './muted.js'
import { Reference } from './reference.js'

const CLIENT_SOURCE_LABELS: Record<ClientSource, string> = {
  reporting: 'Client, reporting endpoint',
  sentry: 'Client, Sentry SDK',
}

/** How often, since when, in which versions, and who has it. */
export function ErrorFacts({ record, visit }: ErrorProps): Rendered {
  return (
    <section class="panel" aria-labelledby="facts-title">
      <h2 id="facts-title" class="hidden">
        Facts
      </h2>
      <div class="error-figures">
        <p>
          <strong>{formatCount(record.occurrence_count)}</strong>{' '}
          <span class="muted">{record.occurrence_count === 1 ? 'event' : 'events'}</span>
        </p>
        {record.user_count === 0 ? (
          <p class="muted">no user known</p>
        ) : (
          <p>
            <strong>{formatCount(record.user_count)}</strong>{' '}
            <span class="muted">{record.user_count === 1 ? 'user' : 'users'}</span>
          </p>
        )}
      </div>
      <dl class="facts">
        <dt>First seen</dt>
        <dd>
          <Time iso={record.first_seen_at} visit={visit} /> <Version version={record.first_app_version} />
        </dd>
        <dt>Last seen</dt>
        <dd>
          <Time iso={record.occurred_at} visit={visit} /> <Version version={record.last_app_version} />
        </dd>
        <dt>Platform</dt>
        <dd>{record.platform}</dd>
        {record.source && (
          <>
            <dt>Source</dt>
            <dd>{CLIENT_SOURCE_LABELS[record.source]}</dd>
          </>
        )}
        {record.git_sha && (
          <>
            <dt>Commit</dt>
            <dd>
              <code title={record.git_sha}>{record.git_sha.slice(0, 12)}</code>
            </dd>
          </>
        )}
        <dt>Assigned to</dt>
        <dd dir="auto">
          {record.assigned_to ? (
            <a href={href(visit, '/errors', { assigned_to: record.assigned_to })}>{record.assigned_to}</a>
          ) : (
            'nobody'
          )}
        </dd>
        <dt>Priority</dt>
        <dd>{PRIORITIES[record.priority_level] ?? String(record.priority_level)}</dd>
        {record.snoozed && record.snoozed_until && (
          <>
            <dt>Snoozed until</dt>
            <dd>
              {exactTime(record.snoozed_until, visit.time_zone)}
              {record.snooze_reason && <p class="muted">{record.snooze_reason}</p>}
            </dd>
          </>
        )}
        {record.muted && (
          <>
            <dt>Muted</dt>
            <dd dir="auto">
              {muteText(record, visit)}
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

function Version({ version }: { version: string | null }): Rendered {
  return version ? <span class="badge version">{version}</span> : null
}

export function eventsText(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'event' : 'events'}`
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

export const HISTOGRAMS = ['24h', '30d'] as const
export type HistogramRange = (typeof HISTOGRAMS)[number]

const SERIES = [{ key: 'count', label: 'Events', tone: 'series-1' }]

/** How often it came, by hour or by day. */
export function Histogram({
  history,
  range,
  visit,
}: Omit<ErrorProps, 'record'> & { history: ErrorHistory; range: HistogramRange }): Rendered {
  const bars =
    range === '24h'
      ? history.hours.map(({ starts_at, count }) => ({
          label: hourText(starts_at, visit.time_zone),
          name: exactTime(starts_at, visit.time_zone),
          values: { count },
        }))
      : history.days.map(({ day, count }) => ({ label: shortDate(day), name: longDate(day), values: { count } }))
  const total = bars.reduce((sum, { values }) => sum + values.count, 0)
  return (
    <section class="panel" id="how-often" aria-labelledby="histogram-title">
      <h2 id="histogram-title" class="hidden">
        How often
      </h2>
      <Tabs
        label="Histogram"
        tabs={[
          { label: 'Last 24 h', href: rangeAddress(visit, '24h'), current: range === '24h' },
          { label: 'Last 30 days', href: rangeAddress(visit, null), current: range === '30d' },
        ]}
      />
      <BarChart title={eventsText(total)} bars={bars} series={SERIES} unit="events" />
    </section>
  )
}

/** On a phone the chart is far down the page, and one comes back to it. */
function rangeAddress(visit: Visit, histogram: HistogramRange | null): string {
  return `${sameWith(visit, { histogram })}#how-often`
}

function hourText(iso: string, time_zone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: time_zone,
  }).format(new Date(iso))
}
