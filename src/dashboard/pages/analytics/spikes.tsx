import type { Spike } from '../../../analytics/baselines/spiking-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { formatCount } from '../../ui/time.js'

/** Types of errors that come more often in this hour than is usual, each with its evidence. */
export function Spikes({ spikes, visit }: { spikes: readonly Spike[]; visit: Visit }): Rendered {
  return (
    <section class="concern">
      <h3>
        Spiking <span class="count">{formatCount(spikes.length)}</span>
      </h3>
      <p class="meta muted">this hour, against the hours of the last four weeks</p>
      <ul>
        {spikes.map((spike) => (
          <li>
            <span class="named-error">
              <span class="named-error-line">
                <a href={errorsBehind(spike, visit)}>{spike.error_type}</a>
              </span>
              <span class="named-error-line muted">{whereOf(spike, visit)}</span>
            </span>
            <span class="concern-side">
              <small>{evidenceOf(spike)}</small>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function errorsBehind({ application_id, error_type, platform }: Spike, visit: Visit): string {
  const application = visit.applications.length > 1 ? { application_id } : {}
  return href(visit, '/errors', { ...application, error_type, platform })
}

export function whereOf({ application_id, platform }: Spike, visit: Visit): string {
  const name = visit.applications.find(({ id }) => id === application_id)?.name
  return visit.application_id === null && visit.applications.length > 1 && name ? `${name} · ${platform}` : platform
}

function evidenceOf({ count, usual, std_dev }: Spike): string {
  return `${formatCount(count)} this hour, usually ${usualText(usual, std_dev)}`
}

/** What is usual, as people read it. */
export function usualText(mean: number, std_dev: number): string {
  return rounded(mean) === '0' ? 'hardly any' : `${rounded(mean)} ± ${rounded(std_dev)}`
}

function rounded(value: number): string {
  return formatCount(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))
}
