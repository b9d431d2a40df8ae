import type { Spike } from '../../../analytics/baselines/spiking-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { formatCount } from '../../ui/time.js'

/** Error types above their hourly baseline. */
export function Spikes({ spikes, visit }: { spikes: readonly Spike[]; visit: Visit }): Rendered {
  return (
    <section class="concern">
      <h3>
        Spiking <span class="count">{formatCount(spikes.length)}</span>
      </h3>
      <p class="meta muted">this hour vs. the 4-week hourly average</p>
      <ul>
        {spikes.map((spike) => (
          <li>
            <span class="named-error">
              <span class="named-error-line">
                <a href={spikeLink(spike, visit)}>{spike.error_type}</a>
              </span>
              <span class="named-error-line muted">{spikeOrigin(spike, visit)}</span>
            </span>
            <span class="concern-side">
              <small>{spikeText(spike)}</small>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function spikeLink({ application_id, error_type, platform }: Spike, visit: Visit): string {
  const application = visit.applications.length > 1 ? { application_id } : {}
  return href(visit, '/errors', { ...application, error_type, platform })
}

export function spikeOrigin({ application_id, platform }: Spike, visit: Visit): string {
  const name = visit.applications.find(({ id }) => id === application_id)?.name
  return visit.application_id === null && visit.applications.length > 1 && name ? `${name} · ${platform}` : platform
}

function spikeText({ count, mean, std_dev }: Spike): string {
  return `${formatCount(count)} this hour (avg ${formatBaseline(mean, std_dev)})`
}

/** Formats a baseline as mean ± standard deviation. */
export function formatBaseline(mean: number, std_dev: number): string {
  return formatRounded(mean) === '0' ? 'near 0' : `${formatRounded(mean)} ± ${formatRounded(std_dev)}`
}

function formatRounded(value: number): string {
  return formatCount(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))
}
