import { CHANCE_DAYS } from '../../../analytics/cascades/chance.js'
import { type CoOccurringError, coOccurringErrors } from '../../../analytics/co-occurring-errors.js'
import { How } from '../../ui/explanation.js'
import { formatCount } from '../../ui/time.js'
import { RelatedErrors } from './related-errors.js'
import type { RelatedPart } from './related-part.js'

const SHOWN = 5
const COMPARED = 40
const WINDOW_MINUTES = 5
const LOOKED_AT = 30
/** What came together at one moment only, or seldom, did so by chance: everything fails at once in an outage. */
const LEAST_MOMENTS = 2
const LEAST_SHARE = 0.2
const LEAST_LIFT = 2

/** Errors that occur shortly before or after this one. */
export const coOccurringPart: RelatedPart<CoOccurringError[]> = {
  name: 'co_occurring_errors',
  title: 'Comes together with',
  async load(context, { id, occurrence_count }, { application_id }) {
    if (occurrence_count < LEAST_MOMENTS) return null
    const found = await coOccurringErrors.run(context, {
      error_id: id,
      application_id: application_id ?? undefined,
      window_minutes: WINDOW_MINUTES,
      newest: LOOKED_AT,
      limit: COMPARED,
    })
    const often = found.filter(
      ({ moment_count, share, lift }) => moment_count >= LEAST_MOMENTS && share >= LEAST_SHARE && lift >= LEAST_LIFT,
    )
    return often.length > 0 ? often.slice(0, SHOWN) : null
  },
  view: (others, visit) => (
    <>
      <RelatedErrors
        rows={others.map(({ error, together_count, looked_at, lift }) => ({
          error,
          evidence: `Near ${formatCount(together_count)} of ${formatCount(looked_at)} occurrences, within ${WINDOW_MINUTES} minutes: ${times(lift)} as often as by chance`,
        }))}
        visit={visit}
      />
      <How>
        {`Of the newest ${LOOKED_AT} occurrences of this error, those with the other at most ${WINDOW_MINUTES} minutes before or after, at ${LEAST_MOMENTS} separate moments or more; from ${LEAST_SHARE * 100} % and ${LEAST_LIFT} times chance on. Chance: how much of the ${CHANCE_DAYS} days before the newest one the other fills, by its counts per hour.`}
      </How>
    </>
  ),
}

function times(lift: number): string {
  return `${formatCount(lift < 10 ? Math.round(lift * 10) / 10 : Math.round(lift))} times`
}
