import {
  analyzeCyclicalPattern,
  CyclicalPattern,
  MIN_PATTERN_OCCURRENCES,
} from '../../../../analytics/patterns/pattern-detector.js'
import { HOUR } from '../../../../model/time.js'
import type { Rendered } from '../../../define.js'
import { BarChart } from '../../../ui/charts/charts.js'
import { timeAxis } from '../../../ui/charts/time-axis.js'
import { Explanation } from '../../../ui/explanation.js'
import { formatCount } from '../../../ui/time.js'
import type { RelatedPart } from './related-part.js'

const DAYS = 30

/** Hours of the day at which the error is more frequent. */
export const patternPart: RelatedPart<CyclicalPattern> = {
  name: 'occurrence_pattern',
  title: 'Pattern',
  response: CyclicalPattern,
  async load(context, { id, occurrence_count }) {
    if (occurrence_count < MIN_PATTERN_OCCURRENCES) return null
    const pattern = await analyzeCyclicalPattern.run(context, { error_id: id, days: DAYS })
    const hasPattern = pattern.pattern_type !== 'uniform' || pattern.peak_hours.length > 0
    return hasPattern ? pattern : null
  },
  view: (pattern, visit) => (
    <>
      <p class="pattern">{patternText(pattern)}</p>
      <HoursOfDay pattern={pattern} />
      <Explanation>
        {`Occurrences of the last ${DAYS} days by hour (${visit.time_zone}). A peak is more than twice the mean. The strength, here ${Math.round(pattern.pattern_strength * 100) / 100}, is the standard deviation of the hours divided by their mean, at most 1.`}
      </Explanation>
    </>
  ),
}

function patternText({ pattern_type, peak_hours, weekday_distribution, total }: CyclicalPattern): string {
  const hours = new Intl.ListFormat('en-GB').format(peak_hours.map(formatHour))
  const peaks = hours && `, peaking at ${hours}`
  const weekend = weekday_distribution.slice(5).reduce((sum, count) => sum + count, 0)
  switch (pattern_type) {
    case 'business_hours':
      return `Mostly during business hours${peaks}.`
    case 'night':
      return `Mostly at night${peaks}.`
    case 'weekend':
      return `Mostly on weekends (${formatCount(weekend)} of ${formatCount(total)}).`
    default:
      return `Peaks at ${hours}.`
  }
}

function HoursOfDay({ pattern: { hourly_distribution, total } }: { pattern: CyclicalPattern }): Rendered {
  return (
    <BarChart
      title={`${formatCount(total)} occurrences by hour`}
      unit="occurrences"
      axis={timeAxis(
        Array.from({ length: 24 }, (_, hour) => hour * HOUR),
        { step: HOUR, time_zone: 'UTC' },
      )}
      series={[{ key: 'count', label: 'Occurrences', tone: 'series-1' }]}
      bars={Array.from({ length: 24 }, (_, hour) => ({
        name: `${formatHour(hour)} to ${formatHour((hour + 1) % 24)}`,
        values: { count: hourly_distribution[hour] ?? 0 },
      }))}
    />
  )
}

function formatHour(hour: number): string {
  return `${hour}:00`
}
