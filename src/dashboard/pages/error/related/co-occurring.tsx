import { MEASURED_DAYS } from '../../../../analytics/cascades/expected-probability.js'
import { CoOccurringError, coOccurringErrors } from '../../../../analytics/co-occurring-errors.js'
import * as r from '../../../../model/result.js'
import { Explanation } from '../../../ui/explanation.js'
import { formatCount } from '../../../ui/time.js'
import { RelatedErrors } from './related-errors.js'
import { type RelatedPart, relatedScope } from './related-part.js'

const MAX_SHOWN_ERRORS = 5
/** Exceeds the number of shown errors, because the thresholds below apply after the query. */
const MAX_CANDIDATES = 40
const WINDOW_MINUTES = 5
const MAX_OCCURRENCES = 30
/** Excludes coincidences, such as unrelated errors during one outage. */
const MIN_MOMENTS = 2
const MIN_SHARE = 0.2
const MIN_LIFT = 2

/** Errors that occur shortly before or after this error. */
export const coOccurringPart: RelatedPart<CoOccurringError[]> = {
  name: 'co_occurring_errors',
  title: 'Co-occurring errors',
  response: r.list(CoOccurringError),
  async load(context, record, visit) {
    const { id, occurrence_count } = record
    if (occurrence_count < MIN_MOMENTS) return null
    const found = await coOccurringErrors.run(context, {
      error_id: id,
      ...relatedScope(visit),
      window_minutes: WINDOW_MINUTES,
      newest: MAX_OCCURRENCES,
      limit: MAX_CANDIDATES,
    })
    const frequent = found.filter(
      ({ moment_count, share, lift }) => moment_count >= MIN_MOMENTS && share >= MIN_SHARE && lift >= MIN_LIFT,
    )
    return frequent.length > 0 ? frequent.slice(0, MAX_SHOWN_ERRORS) : null
  },
  view: (others, visit) => (
    <>
      <RelatedErrors
        rows={others.map(({ error, together_count, checked_count, lift }) => ({
          error,
          evidence: `${formatCount(together_count)} of ${formatCount(checked_count)} occurrences within ${WINDOW_MINUTES} min (${liftText(lift)} expected)`,
        }))}
        visit={visit}
      />
      <Explanation>
        {`Compares the newest ${MAX_OCCURRENCES} occurrences with other errors that occurred within ${WINDOW_MINUTES} minutes of them. An error is listed if it co-occurs with at least ${MIN_SHARE * 100}% of them, at ${MIN_LIFT}× the expected rate or more, and at ${MIN_MOMENTS} or more separate times. The expected rate is based on the hourly counts of the ${MEASURED_DAYS} days before the newest occurrence.`}
      </Explanation>
    </>
  ),
}

function liftText(lift: number): string {
  return `${formatCount(lift < 10 ? Math.round(lift * 10) / 10 : Math.round(lift))}×`
}
