import { SEVERITIES, type Severity } from '../../../model/severity/severity.js'
import type { Rendered } from '../../define.js'
import { formatCount } from '../time.js'
import { samplePercent } from '../units.js'

/** Distribution of occurrences by severity as one stacked bar. */
export function SeverityMix({ counts }: { counts: Readonly<Record<Severity, number>> }): Rendered {
  const total = SEVERITIES.reduce((sum, severity) => sum + counts[severity], 0)
  const present = SEVERITIES.filter((severity) => counts[severity] > 0)
  const label = present.map((severity) => `${formatCount(counts[severity])} ${severity}`).join(', ') || 'none'
  let x = 0
  return (
    <svg class="mix" width="100%" height="8" role="img" aria-label={label}>
      <title>{label}</title>
      {present.map((severity) => {
        const width = (counts[severity] / total) * 100
        x += width
        return <rect class={`severity-${severity}`} x={percent(x - width)} width={percent(width)} height="8" />
      })}
    </svg>
  )
}

/** Occurrences that are critical or high. */
export function severeCount({ critical, high }: Readonly<Record<Severity, number>>): number {
  return critical + high
}

/** Share of critical and high occurrences, or their number if the total is small. */
export function severeText(counts: Readonly<Record<Severity, number>>): string {
  const total = SEVERITIES.reduce((sum, severity) => sum + counts[severity], 0)
  const severe = severeCount(counts)
  return samplePercent(severe / total, total) ?? `${formatCount(severe)} of ${formatCount(total)}`
}

function percent(value: number): string {
  return `${Math.round(value * 100) / 100}%`
}
