import type { Rendered } from '../define.js'
import { formatCount } from './time.js'
import { MIN_PERCENT_SAMPLES } from './units.js'

export interface Comparison {
  /** Null if unknown. */
  before: number | null
  now: number
  /** Period of the earlier value, such as "in the previous 30 days". */
  period: string
  /** Number of samples behind the smaller of both values. Few samples show the difference instead of a percentage. */
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

/** Change since the earlier period. An increase is worse in every figure that shows a change. */
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

/** From this factor on, a percentage is harder to read than the factor. */
const MIN_FACTOR = 10

/** `35%`, or `12×`. */
function relativeChange(now: number, before: number): string {
  const factor = Math.round(now / before)
  if (factor >= MIN_FACTOR) return `${formatCount(factor)}×`
  return `${Math.max(1, Math.round((Math.abs(now - before) / before) * 100))}%`
}
