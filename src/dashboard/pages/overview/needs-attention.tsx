import type { Spike } from '../../../analytics/baselines/spiking-errors.js'
import type { OpenSpike } from '../../../analytics/overview/attention.js'
import type { AttentionList, Overview } from '../../../analytics/overview/overview.js'
import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import { SeverityBadge } from '../../ui/badges.js'
import { formatCount, Time } from '../../ui/time.js'
import { formatBaseline, spikeLink, spikeOrigin } from '../analytics/spikes.js'
import { NamedError, OverviewErrorLink } from './overview-error.js'

interface Group {
  name: string
  list: AttentionList
  href: string
  /** Reason why an error of this group is in the list. */
  reason(error: RankedError): string
}

interface Row {
  error: RankedError
  reasons: string[]
  /** Spike of the error, if it is one of the reasons. */
  spike?: OpenSpike
}

/** Open errors that need attention in one list, each with its reasons. */
export function NeedsAttention({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const groups = attentionGroups(data, visit)
  const spikes = data.spiking ?? []
  const rows = attentionRows(groups, spikes)
  // Spikes without an error to show.
  const typeSpikes = spikes.filter(({ error }) => error === null)
  const incomplete = groups.filter(({ list }) => list.count > list.errors.length)
  return (
    <section class="card" aria-labelledby={ATTENTION}>
      <h2 id={ATTENTION}>Needs attention</h2>
      {rows.length + typeSpikes.length === 0 ? (
        <p class="muted">
          All clear. No new errors since <Time iso={data.new_since} visit={visit} />, no regressions in the last 7 days
          {data.spiking !== null && ', no spikes'}, and all critical errors are assigned.
        </p>
      ) : (
        <ul class="attention">
          {rows
            .filter(({ error }) => error.severity === 'critical')
            .map((row) => (
              <ErrorRow {...row} visit={visit} />
            ))}
          {typeSpikes.map((spike) => (
            <SpikeRow spike={spike} visit={visit} />
          ))}
          {rows
            .filter(({ error }) => error.severity !== 'critical')
            .map((row) => (
              <ErrorRow {...row} visit={visit} />
            ))}
        </ul>
      )}
      {incomplete.length > 0 && (
        <p class="meta attention-more">
          {'Show all: '}
          {incomplete.map(({ name, list, href }, i) => (
            <>
              {i > 0 && ' · '}
              <a href={href}>{`${formatCount(list.count, list.is_lower_bound)} ${name}`}</a>
            </>
          ))}
        </p>
      )}
    </section>
  )
}

const ATTENTION = 'needs-attention'

function ErrorRow({ error, reasons, spike, visit }: Row & { visit: Visit }): Rendered {
  return (
    <li>
      <Reasons reasons={reasons} />
      <OverviewErrorLink error={error} visit={visit} />
      <span class="attention-side">
        <SeverityBadge severity={error.severity} />
        {spike ? (
          <SpikeCount spike={spike} />
        ) : (
          <small>
            <span class="attention-unit">last seen </span>
            <Time iso={error.occurred_at} visit={visit} />
          </small>
        )}
      </span>
    </li>
  )
}

/** Error type above its hourly baseline, whose most frequent error is not open. */
function SpikeRow({ spike, visit }: { spike: OpenSpike; visit: Visit }): Rendered {
  return (
    <li>
      <Reasons reasons={[spikeReason(spike)]} />
      <NamedError href={spikeLink(spike, visit)} type={spike.error_type} message="Other errors of this type are open">
        <span>{spikeOrigin(spike, visit)}</span>
      </NamedError>
      <span class="attention-side">
        <SeverityBadge severity={spike.severity} />
        <SpikeCount spike={spike} />
      </span>
    </li>
  )
}

function SpikeCount({ spike: { error_type, platform, count, mean, std_dev } }: { spike: OpenSpike }): Rendered {
  const average = `${error_type} on ${platform}, on average ${formatBaseline(mean, std_dev)} per hour`
  return <small title={average}>{`${formatCount(count)} this hour`}</small>
}

function Reasons({ reasons }: { reasons: readonly string[] }): Rendered {
  return (
    <span class="reasons">
      {reasons.map((reason) => (
        <span class="badge reason" title={reason}>
          <bdi>{reason}</bdi>
        </span>
      ))}
    </span>
  )
}

/** One-line summary for the page head. Each number links to its errors. */
export function AttentionSummary({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const spiking = data.spiking?.length ?? 0
  const parts = [
    ...(spiking > 0 ? [{ text: `${formatCount(spiking)} spiking`, link: `#${ATTENTION}` }] : []),
    ...attentionGroups(data, visit)
      .filter(({ list }) => list.count > 0)
      .map(({ name, list, href }) => ({
        text: `${formatCount(list.count, list.is_lower_bound)} ${name}`,
        link: href,
      })),
  ]
  if (parts.length === 0) return 'All clear'
  return parts.map(({ text, link }, i) => (
    <>
      {i > 0 && ', '}
      <a href={link}>{text}</a>
    </>
  ))
}

/** Returns the most urgent group first. An error in several groups is listed once, with all reasons. */
function attentionGroups(data: Overview, visit: Visit): Group[] {
  return [
    {
      name: 'regressed',
      list: data.reopened,
      href: href(visit, '/errors', { regressed: true }),
      reason: ({ regressed_in_version }) =>
        regressed_in_version ? `regressed in ${regressed_in_version}` : 'regressed',
    },
    {
      name: 'new',
      list: data.new_errors,
      href: openErrorsLink(visit, { sort_by: 'first_seen_at' }),
      reason: (error) => newReason(error, data, visit),
    },
    {
      name: 'unassigned',
      list: data.unattended,
      href: openErrorsLink(visit, { assigned_to: '__unassigned__', sort_by: 'severity' }),
      reason: ({ severity }) => `${severity}, unassigned`,
    },
  ]
}

function attentionRows(groups: readonly Group[], spikes: readonly OpenSpike[]): Row[] {
  const rows = new Map<number, Row>()
  const rowOf = (error: RankedError): Row => {
    const row = rows.get(error.id) ?? { error, reasons: [] }
    rows.set(error.id, row)
    return row
  }
  for (const spike of spikes) {
    const row = spike.error && rowOf(spike.error)
    // An error can spike on several platforms.
    if (row && !row.spike) {
      row.spike = spike
      row.reasons.push(spikeReason(spike))
    }
  }
  for (const { list, reason } of groups) {
    for (const error of list.errors) rowOf(error).reasons.push(reason(error))
  }
  return [...rows.values()]
}

function newReason({ application_id, first_seen_at }: RankedError, data: Overview, visit: Visit): string {
  const release = data.latest_releases.find((latest) => latest.application_id === application_id)
  if (release && first_seen_at >= release.first_seen_at) return `new since ${release.app_version}`
  return visit.last_visit_at === null ? 'new in the last 24 hours' : 'new since your last visit'
}

/** `spiking 60×`, compared with the hourly average. */
function spikeReason({ count, mean }: Spike): string {
  const factor = mean > 0 ? count / mean : Number.POSITIVE_INFINITY
  if (factor >= MAX_SPIKE_FACTOR) return 'spiking'
  return `spiking ${factor < 10 ? factor.toFixed(1) : formatCount(Math.round(factor))}×`
}

/** Larger factors only mean that the average is close to zero. */
const MAX_SPIKE_FACTOR = 1000
