import { ErrorBaseline, errorBaseline } from '../../../../analytics/baselines/error-baseline.js'
import { Explanation } from '../../../ui/explanation.js'
import { formatCount, Time } from '../../../ui/time.js'
import { formatBaseline } from '../../analytics/spikes.js'
import { type RelatedPart, relatedScope } from './related-part.js'

/** Baseline of the error type, compared with the current hour. */
export const baselinePart: RelatedPart<ErrorBaseline> = {
  name: 'baseline',
  title: 'Baseline',
  response: ErrorBaseline,
  load: (context, record, visit) => errorBaseline.run(context, { error_id: record.id, ...relatedScope(visit) }),
  isUrgent: ({ is_above }) => is_above,
  view: ({ error_type, platform, hour, day, count, is_above, calculated_at }, visit) => (
    <>
      <p class="pattern">
        {hour && `Usually ${formatBaseline(hour.mean, hour.std_dev)} per hour`}
        {hour && day && `, ${formatBaseline(day.mean, day.std_dev)} per day`}
        {`. ${formatCount(count)} this hour so far${is_above ? ', above the baseline' : ''}.`}
      </p>
      <Explanation>
        All errors of type <bdi>{error_type}</bdi> on <bdi>{platform}</bdi> over the last four weeks, excluding
        outliers. Calculated <Time iso={calculated_at} visit={visit} />.
      </Explanation>
    </>
  ),
}
