import type { Context } from '../../context.js'
import type { Scope } from './application-filter.js'
import type { IdRange } from './id-ranges.js'
import type { Span } from './period.js'

/**
 * The sums per hour of the errors in a range of ids that were seen within the span. The errors lead: each has its hours
 * by its key, and one that was last seen before the span costs nothing.
 */
export function hoursOfErrors({ database }: Context, { application_id }: Scope, { from, to }: Span, range: IdRange) {
  return database.read
    .selectFrom('faultboard_errors as e')
    .innerJoin('faultboard_error_hours as h', 'h.error_id', 'e.id')
    .where('e.id', '>=', range.first)
    .where('e.id', '<', range.end)
    .where('e.occurred_at', '>=', from)
    .where('h.hour', '>=', from)
    .where('h.hour', '<', to)
    .$if(application_id !== undefined, (query) => query.where('e.application_id', '=', application_id ?? 0))
}
