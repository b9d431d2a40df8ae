import { type SystemHealth, unusualValues } from '../../../../model/system-health.js'
import type { Rendered } from '../../../define.js'
import { formatCount } from '../../../ui/time.js'
import { formatBytes, formatMilliseconds, formatPercent, formatSeconds } from '../../../ui/units.js'

/** Process metrics at the time of the occurrence, with unusual values highlighted. */
export function ProcessMetrics({ health }: { health: unknown }): Rendered {
  if (!isHealth(health)) return null
  const warnings = unusualValues(health)
  const messages = Object.values(warnings)
  return (
    <section class="panel" aria-labelledby="process-title">
      <div class="panel-head">
        <h2 id="process-title">Process</h2>
      </div>
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
    </section>
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
