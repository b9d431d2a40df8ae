import type { Spike } from '../../../analytics/baselines/spiking-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { formatCount } from '../../ui/time.js'
import { formatBaseline, spikeLink, spikeOrigin } from './spikes.js'

/** Error types above their daily baseline. */
export function AboveBaseline({ spikes, visit }: { spikes: readonly Spike[] | null; visit: Visit }): Rendered {
  return (
    <Insight
      title="Above baseline today"
      count={spikes?.length ?? 0}
      isOpen={spikes !== null && spikes.length > 0}
      description="Error types with more occurrences today than on an average day of the last four weeks."
      explanation={`More than ${visit.options.baseline_alert_threshold_std_devs} standard deviations above the mean, and at least five occurrences. Days start at midnight (${visit.time_zone}).`}
    >
      {spikes === null || spikes.length === 0 ? (
        <p class="muted">
          {spikes === null
            ? 'Not enough history yet. Baselines need 7 days and 10 occurrences of a type.'
            : 'Nothing above baseline today.'}
        </p>
      ) : (
        <InsightTable
          title="Above baseline today"
          rows={spikes}
          columns={[
            {
              name: 'Type',
              cell: (spike) => (
                <>
                  <a href={spikeLink(spike, visit)}>{spike.error_type}</a>{' '}
                  <span class="muted">{spikeOrigin(spike, visit)}</span>
                </>
              ),
            },
            { name: 'Today', number: true, cell: ({ count }) => formatCount(count) },
            { name: 'Baseline', number: true, cell: ({ mean, std_dev }) => formatBaseline(mean, std_dev) },
          ]}
        />
      )}
    </Insight>
  )
}
