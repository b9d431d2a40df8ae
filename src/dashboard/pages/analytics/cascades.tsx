import { CASCADE_WINDOW_MS } from '../../../analytics/cascades/cascade-sweep.js'
import {
  type Cascade,
  ErrorCascades,
  errorCascades,
  MIN_PROBABILITY,
} from '../../../analytics/cascades/error-cascades.js'
import type { StrongCascade } from '../../../analytics/cascades/strongest-cascades.js'
import type { Rendered, Visit } from '../../define.js'
import { ErrorLink } from '../../ui/error-link.js'
import { Explanation } from '../../ui/explanation.js'
import { Insight, RankingTable } from '../../ui/insight.js'
import { ExactTime, formatCount, Time } from '../../ui/time.js'
import { formatMilliseconds, formatSeconds, samplePercent } from '../../ui/units.js'
import { RelatedErrors } from '../error/related/related-errors.js'
import { type RelatedPart, relatedScope } from '../error/related/related-part.js'

const MAX_SHOWN_CASCADES = 5
const WINDOW = `${CASCADE_WINDOW_MS / 1000} s`

/** Errors that regularly precede or follow this error. */
export const cascadesPart: RelatedPart<ErrorCascades> = {
  name: 'cascades',
  title: 'Cascades',
  response: ErrorCascades,
  async load(context, record, visit) {
    const { leads_to, caused_by } = await errorCascades.run(context, {
      error_id: record.id,
      min_probability: MIN_PROBABILITY,
      ...relatedScope(visit),
    })
    if (leads_to.length + caused_by.length === 0) return null
    return { leads_to: leads_to.slice(0, MAX_SHOWN_CASCADES), caused_by: caused_by.slice(0, MAX_SHOWN_CASCADES) }
  },
  view: ({ leads_to, caused_by }, visit) => (
    <>
      {caused_by.length > 0 && (
        <>
          <h3>Follows</h3>
          <RelatedErrors
            rows={caused_by.map((cascade) => ({
              error: cascade.error,
              evidence: `This error ${followedText(cascade)}`,
            }))}
            visit={visit}
          />
        </>
      )}
      {leads_to.length > 0 && (
        <>
          <h3>Leads to</h3>
          <RelatedErrors
            rows={leads_to.map((cascade) => ({
              error: cascade.error,
              evidence: (
                <>
                  <bdi>{cascade.error.error_type}</bdi> {followedText(cascade)}
                </>
              ),
            }))}
            visit={visit}
          />
        </>
      )}
      <Explanation>
        {`Detected every hour: an error followed another error within ${WINDOW} at least three times, at least half of the time, and at least twice as often as by chance. `}
        <CountedSince since={[...leads_to, ...caused_by][0]?.counted_since ?? null} visit={visit} />
        <DetectedAt cascades={[...leads_to, ...caused_by]} visit={visit} />
      </Explanation>
    </>
  ),
}

function followedText({ followed_count, parent_count, average_delay_ms }: Cascade): string {
  return `followed ${formatCount(followed_count)} of ${formatCount(parent_count)} times within ${WINDOW}, ${formatDelay(average_delay_ms)} later on average`
}

function formatDelay(milliseconds: number): string {
  return milliseconds < 1000 ? formatMilliseconds(milliseconds) : formatSeconds(milliseconds / 1000)
}

function DetectedAt({ cascades, visit }: { cascades: readonly Cascade[]; visit: Visit }) {
  const newest = cascades.map(({ last_detected_at }) => last_detected_at).sort()
  return (
    <>
      Last detected <Time iso={newest.at(-1) ?? ''} visit={visit} />.
    </>
  )
}

function CountedSince({ since, visit }: { since: string | null; visit: Visit }): Rendered {
  return (
    since && (
      <>
        {'Counted since '}
        <ExactTime iso={since} visit={visit} />
        {'. '}
      </>
    )
  )
}

/** Strongest cascades with their evidence. */
export function StrongestCascades({ cascades, visit }: { cascades: readonly StrongCascade[]; visit: Visit }): Rendered {
  return (
    <Insight
      title="Cascades"
      count={cascades.length}
      description={`Errors that regularly follow another error within ${WINDOW}. Fixing the first error may fix the second.`}
      explanation={
        <>
          Detected every hour. The second error followed at least three times, at least half of the time, and at least
          twice as often as by chance. Sorted by how often the second error followed.{' '}
          <CountedSince since={cascades[0]?.counted_since ?? null} visit={visit} />
        </>
      }
    >
      {cascades.length === 0 ? (
        <p class="muted">No cascades found.</p>
      ) : (
        <RankingTable
          title="Cascades"
          rows={cascades}
          columns={[
            { name: 'First', cell: ({ parent }) => <ErrorLink error={parent} visit={visit} /> },
            { name: 'Then', cell: ({ child }) => <ErrorLink error={child} visit={visit} /> },
            {
              name: 'Followed',
              number: true,
              cell: ({ followed_count, parent_count }) =>
                `${formatCount(followed_count)} of ${formatCount(parent_count)}`,
            },
            {
              name: 'Share',
              number: true,
              cell: ({ probability, parent_count }) => samplePercent(probability, parent_count) ?? '–',
            },
            {
              name: 'Expected',
              number: true,
              cell: ({ expected_probability, parent_count }) =>
                samplePercent(expected_probability, parent_count) ?? '–',
            },
            {
              name: 'Avg delay',
              number: true,
              cell: ({ average_delay_ms }) => formatDelay(average_delay_ms),
            },
          ]}
        />
      )}
    </Insight>
  )
}
