import { ErrorBaseline, errorBaseline } from '../../../../analytics/baselines/error-baseline.js'
import { Explanation } from '../../../ui/explanation.js'
import { formatCount, Time } from '../../../ui/time.js'
import { type RelatedPart, relatedScope } from './related-part.js'

/** Usual counts of the error type, compared with the current hour. */
export const baselinePart: RelatedPart<ErrorBaseline> = {
  name: 'baseline',
  title: 'Baseline',
  response: ErrorBaseline,
  load: (context, record, visit) => errorBaseline.run(context, { error_id: record.id, ...relatedScope(visit) }),
  // With a smaller share, other errors of the type cause the increase.
  isUrgent: ({ is_above, count, own_count }) => is_above && own_count > count / 2,
  view: ({ error_type, platform, hour, day, count, calculated_at }, visit) => (
    <>
      <p class="pattern">
        {'All '}
        <code>{error_type}</code> on <bdi>{platform}</bdi>
        {`: ${formatCount(count)} this hour${hour ? `, usually ${usualRange(hour)}` : ''}.`}
        {day && ` Usually ${usualRange(day)} per day.`}
      </p>
      <Explanation>
        The usual range is the mean of the last four weeks without outliers, plus or minus one standard deviation.
        Calculated <Time iso={calculated_at} visit={visit} />.
      </Explanation>
    </>
  ),
}

/** Counts within one standard deviation of the mean: `0 to 1`. */
function usualRange({ mean, std_dev }: { mean: number; std_dev: number }): string {
  const [low, high] = [Math.max(0, Math.round(mean - std_dev)), Math.round(mean + std_dev)]
  return low === high ? formatCount(low) : `${formatCount(low)} to ${formatCount(high)}`
}
