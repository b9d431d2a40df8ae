import {
  analyzeCyclicalPattern,
  type CyclicalPattern,
  MIN_PATTERN_OCCURRENCES,
} from '../../../analytics/patterns/pattern-detector.js'
import type { Rendered } from '../../define.js'
import { BarChart } from '../../ui/charts.js'
import { How } from '../../ui/explanation.js'
import { formatCount } from '../../ui/time.js'
import type { RelatedPart } from './related-part.js'

const DAYS = 30

/** At which hours the error occurs, where some stand out. */
export const patternPart: RelatedPart<CyclicalPattern> = {
  name: 'occurrence_pattern',
  title: 'Pattern',
  async load(context, { id, occurrence_count }) {
    if (occurrence_count < MIN_PATTERN_OCCURRENCES) return null
    const pattern = await analyzeCyclicalPattern.run(context, { error_id: id, days: DAYS })
    const stands_out = pattern.pattern_type !== 'uniform' || pattern.peak_hours.length > 0
    return stands_out ? pattern : null
  },
  view: (pattern, visit) => (
    <>
      <p class="pattern">{sentenceOf(pattern)}</p>
      <HoursOfDay pattern={pattern} />
      <How>
        {`Its occurrences of the last ${DAYS} days by the hour of the day in ${visit.time_zone}. A peak is over twice the mean; the strength, here ${Math.round(pattern.pattern_strength * 100) / 100}, is the standard deviation of the hours over their mean, at most 1.`}
      </How>
    </>
  ),
}

function sentenceOf({ pattern_type, peak_hours, weekday_distribution, total }: CyclicalPattern): string {
  const hours = new Intl.ListFormat('en-GB').format(peak_hours.map(clock))
  const peaks = hours && `, most at ${hours}`
  const weekend = weekday_distribution.slice(5).reduce((sum, count) => sum + count, 0)
  switch (pattern_type) {
    case 'business_hours':
      return `Mostly in business hours${peaks}.`
    case 'night':
      return `Mostly at night${peaks}.`
    case 'weekend':
      return `Mostly at the weekend (${formatCount(weekend)} of ${formatCount(total)}).`
    default:
      return `Most at ${hours}, on any day.`
  }
}

function HoursOfDay({ pattern: { hourly_distribution, total } }: { pattern: CyclicalPattern }): Rendered {
  return (
    <BarChart
      title={`${formatCount(total)} events by hour`}
      unit="events"
      series={[{ key: 'count', label: 'Events', tone: 'series-1' }]}
      bars={Array.from({ length: 24 }, (_, hour) => ({
        label: clock(hour),
        name: `${clock(hour)} to ${clock((hour + 1) % 24)}`,
        values: { count: hourly_distribution[hour] ?? 0 },
      }))}
    />
  )
}

function clock(hour: number): string {
  return `${hour}:00`
}
