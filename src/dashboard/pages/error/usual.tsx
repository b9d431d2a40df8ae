import { type ErrorUsual, errorUsual } from '../../../analytics/baselines/usual-rate.js'
import { How } from '../../ui/explanation.js'
import { formatCount, Time } from '../../ui/time.js'
import { usualText } from '../analytics/spikes.js'
import type { RelatedPart } from './related-part.js'

/** How often errors of this kind come, and whether they come more often now. */
export const usualPart: RelatedPart<ErrorUsual> = {
  name: 'usual',
  title: 'Usual rate',
  load: (context, { id }, { application_id }) =>
    errorUsual.run(context, { error_id: id, application_id: application_id ?? undefined }),
  view: ({ error_type, platform, hour, day, count, is_above, calculated_at }, visit) => (
    <>
      <p class="pattern">
        {hour && `Usually ${usualText(hour.mean, hour.std_dev)} an hour`}
        {hour && day && `, ${usualText(day.mean, day.std_dev)} a day`}
        {`; this hour ${formatCount(count)} so far${is_above ? ', more than usual' : ''}.`}
      </p>
      <How>
        All errors of the type <bdi>{error_type}</bdi> on <bdi>{platform}</bdi>, over the last four weeks without what
        was far out. Calculated <Time iso={calculated_at} visit={visit} />.
      </How>
    </>
  ),
}
