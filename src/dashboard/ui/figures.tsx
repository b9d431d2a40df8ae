import type { Rendered } from '../define.js'
import { Sparkline } from './charts/charts.js'

export interface Comparison {
  /** Null if unknown. */
  before: number | null
  now: number
  /** Period of the earlier value, such as "by this time yesterday". */
  period: string
  format(value: number): string
}

/** Key figure with its change and trend. */
export function Figure({
  label,
  value,
  href,
  note,
  change,
  trend,
}: {
  label: string
  value: string
  href?: string
  note: Rendered
  change?: Comparison
  trend?: { values: readonly number[]; label: string }
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
        {trend && <Sparkline values={trend.values} label={trend.label} />}
      </dd>
    </div>
  )
}

/** Change since the earlier period. An increase is worse in every figure that shows a change. */
function Change({ now, before, period, format }: Comparison): Rendered {
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
      {before === 0 ? format(now) : `${percent(now, before)}%`}
    </span>
  )
}

function percent(now: number, before: number): string {
  const share = Math.round((Math.abs(now - before) / before) * 100)
  return share > 999 ? '> 999' : String(Math.max(1, share))
}
