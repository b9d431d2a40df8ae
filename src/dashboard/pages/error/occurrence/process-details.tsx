import { type SystemHealth, unusualValues } from '../../../../model/system-health.js'
import type { Rendered } from '../../../define.js'
import { formatCount } from '../../../ui/time.js'
import { formatBytes, formatMilliseconds, formatPercent, formatSeconds } from '../../../ui/units.js'
import { withLabels } from './detail-labels.js'
import { isObject, Values } from './facts.js'

/** Process of the occurrence, and its metrics at that time. */
export function ProcessDetails({ details }: { details: Readonly<Record<string, unknown>> }): Rendered {
  const { process, system_health: health } = details
  if (!isHealth(health) && !isObject(process)) return null
  return (
    <section class="panel" aria-labelledby="process-title">
      <h3 id="process-title">Process</h3>
      {isObject(process) && <Values values={withLabels(process)} />}
      {isHealth(health) && <Metrics health={health} />}
    </section>
  )
}

/** Process metrics with unusual values highlighted. */
function Metrics({ health }: { health: Partial<SystemHealth> }): Rendered {
  const warnings = unusualValues(health)
  const messages = Object.values(warnings)
  return (
    <>
      <dl class="figure-row">
        {FIGURES.map(({ name, label, show }) => {
          const text = show(health)
          return (
            text !== null && (
              <div>
                <dt>{label}</dt>
                <dd class={name in warnings ? 'unusual' : undefined} title={warnings[name]}>
                  {name in warnings && <span aria-hidden="true">▲ </span>}
                  {text}
                </dd>
              </div>
            )
          )
        })}
      </dl>
      {messages.length > 0 && (
        <ul class="unusual-warnings">
          {messages.map((message) => (
            <li>{message}</li>
          ))}
        </ul>
      )}
    </>
  )
}

interface ShownFigure {
  name: keyof SystemHealth
  label: string
  show(health: Partial<SystemHealth>): string | null
}

const number = (name: keyof SystemHealth, label: string, format: (value: number) => string): ShownFigure => ({
  name,
  label,
  show: (health) => (typeof health[name] === 'number' ? format(health[name]) : null),
})

const FIGURES: readonly ShownFigure[] = [
  number('rss_bytes', 'Memory (RSS)', formatBytes),
  {
    name: 'heap_used_bytes',
    label: 'Heap',
    show({ heap_used_bytes: used, heap_limit_bytes: limit }) {
      if (typeof used !== 'number' || typeof limit !== 'number' || limit <= 0) return null
      return `${formatBytes(used)}, ${formatPercent(used / limit)} of limit`
    },
  },
  number('delay_p50_ms', 'Loop delay p50', formatMilliseconds),
  number('delay_p99_ms', 'Loop delay p99', formatMilliseconds),
  number('delay_max_ms', 'Loop delay max', formatMilliseconds),
  number('utilization', 'Event loop utilization', formatPercent),
  number('cpu', 'CPU', formatPercent),
  number('gc_share', 'GC time', formatPercent),
  number('active_resources', 'Active resources', formatCount),
  number('system_free_bytes', 'Free memory', formatBytes),
  number('load_average', 'Load', (load) => load.toFixed(2)),
  number('uptime_s', 'Uptime', formatSeconds),
]

function isHealth(value: unknown): value is Partial<SystemHealth> {
  return typeof value === 'object' && value !== null && 'rss_bytes' in value
}
