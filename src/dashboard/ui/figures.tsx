import type { Rendered } from '../define.js'
import { formatCount } from './time.js'
import { MIN_PERCENT_SAMPLES } from './units.js'

export interface Comparison {
  /** Earlier value. Null if unknown. */
  before: number | null
  now: number
  /** Period of the earlier value, such as "in the previous 30 days". */
  period: string
  /** Number of samples in the smaller period. With too few samples, shows the difference instead of a percentage. */
  samples: number
  format(value: number): string
}

/** Key figure with its change. */
export function Figure({
  label,
  value,
  href,
  note,
  change,
}: {
  label: string
  value: string
  href?: string | undefined
  note: Rendered
  change?: Comparison | undefined
}): Rendered {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>
        <span class="figure-line">
          <strong class="figure-value">{href ? <a href={href}>{value}</a> : value}</strong>
          {change && <Change {...change} />}
        </span>
        <small>{note}</small>
      </dd>
    </div>
  )
}

/** Change since the earlier period. In every figure with a change, an increase is worse. */
function Change({ now, before, period, samples, format }: Comparison): Rendered {
  if (before === null) return null
  const tooltip = `${format(before)} ${period}`
  if (before === now) {
    return (
      <span class="change" title={tooltip}>
        no change
      </span>
    )
  }
  return (
    <span class={`change ${now > before ? 'worse' : 'better'}`} title={tooltip}>
      <span aria-hidden="true">{now > before ? '↑' : '↓'}</span>
      <span class="hidden">{now > before ? 'up by' : 'down by'}</span>
      {samples < MIN_PERCENT_SAMPLES ? format(Math.abs(now - before)) : relativeChange(now, before)}
    </span>
  )
}

/** Changes from this factor are shown as factors, because large percentages are hard to read. */
const MIN_FACTOR = 10

/** Formats a change as `35%` or `12×`. */
function relativeChange(now: number, before: number): string {
  const factor = Math.round(now / before)
  if (factor >= MIN_FACTOR) return `${formatCount(factor)}×`
  return `${Math.max(1, Math.round((Math.abs(now - before) / before) * 100))}%`
}
