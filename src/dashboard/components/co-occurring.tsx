import { type CoOccurringError, coOccurringErrors } from '../../analytics/co-occurring-errors.js'
import { perform } from '../../operation.js'
import type { RelatedPart } from './related.js'
import { How, RelatedErrors } from './related-errors.js'
import { formatCount } from './time.js'

const SHOWN = 5
const WINDOW_MINUTES = 5
const LOOKED_AT = 30
/** What came together once, or seldom, did so by chance. */
const LEAST_TOGETHER = 2
const LEAST_SHARE = 0.5

/** Errors that occur shortly before or after this one. */
export const coOccurringPart: RelatedPart<CoOccurringError[]> = {
  name: 'co_occurring_errors',
  title: 'Comes together with',
  async load(context, { id, occurrence_count }, { application_id }) {
    if (occurrence_count < LEAST_TOGETHER) return null
    const found = await perform(coOccurringErrors, context, {
      error_id: id,
      application_id,
      window_minutes: WINDOW_MINUTES,
      newest: LOOKED_AT,
      limit: SHOWN,
    })
    const often = found.filter(({ together_count, share }) => together_count >= LEAST_TOGETHER && share >= LEAST_SHARE)
    return often.length > 0 ? often : null
  },
  view: (others, visit) => (
    <>
      <RelatedErrors
        rows={others.map(({ error, together_count, looked_at }) => ({
          error,
          evidence: `Near ${formatCount(together_count)} of ${formatCount(looked_at)} occurrences, within ${WINDOW_MINUTES} minutes`,
        }))}
        visit={visit}
      />
      <How>
        {`Of the newest ${LOOKED_AT} occurrences of this error, those with the other at most ${WINDOW_MINUTES} minutes before or after; from ${LEAST_SHARE * 100} % on.`}
      </How>
    </>
  ),
}
