import type { Spike } from '../../../analytics/baselines/spiking-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { formatCount } from '../../ui/time.js'
import { errorsBehind, usualText, whereOf } from './spikes.js'

/** What occurred more often today than is usual for a day. */
export function AboveUsual({ spikes, visit }: { spikes: readonly Spike[] | null; visit: Visit }): Rendered {
  return (
    <Insight
      title="More than usual today"
      how="Types of errors of which more occurred today so far than on a usual day of the last four weeks."
      method={`More than ${visit.options.baseline_alert_threshold_std_devs} standard deviations above the mean; five at least. Days begin at midnight in ${visit.time_zone}.`}
    >
      {spikes === null || spikes.length === 0 ? (
        <p class="muted">
          {spikes === null
            ? 'What is usual is not known yet: that takes a week, and ten occurrences of a type.'
            : 'Nothing came more often than on other days.'}
        </p>
      ) : (
        <InsightTable
          title="More than usual today"
          rows={spikes}
          columns={[
            {
              name: 'Type',
              cell: (spike) => (
                <>
                  <a href={errorsBehind(spike, visit)}>{spike.error_type}</a>{' '}
                  <span class="muted">{whereOf(spike, visit)}</span>
                </>
              ),
            },
            { name: 'Today', number: true, cell: ({ count }) => formatCount(count) },
            { name: 'Usually', number: true, cell: ({ usual, std_dev }) => usualText(usual, std_dev) },
          ]}
        />
      )}
    </Insight>
  )
}
