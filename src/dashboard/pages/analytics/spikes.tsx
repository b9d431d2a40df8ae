import type { Spike } from '../../../analytics/baselines/spiking-errors.js'
import type { Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { formatCount } from '../../ui/time.js'

export function spikeLink({ application_id, environment, error_type, platform }: Spike, visit: Visit): string {
  return href(visit, '/errors', {
    ...(visit.applications.length > 1 && { application_id }),
    ...(visit.environments.length > 1 && { environment }),
    error_type,
    platform,
  })
}

export function spikeOrigin({ application_id, platform }: Spike, visit: Visit): string {
  const name = visit.applications.find(({ id }) => id === application_id)?.name
  return visit.application_id === null && visit.applications.length > 1 && name ? `${name} · ${platform}` : platform
}

/** Formats a baseline as mean ± standard deviation. */
export function formatBaseline(mean: number, std_dev: number): string {
  return formatRounded(mean) === '0' ? 'near 0' : `${formatRounded(mean)} ± ${formatRounded(std_dev)}`
}

function formatRounded(value: number): string {
  return formatCount(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))
}
