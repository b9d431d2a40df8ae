import { MAX_ENVIRONMENT_LENGTH } from '../../model/environment.js'
import { defineHourTable } from '../../store/counters/define-hour-table.js'

/** Statements repeated within one request or job. */
export const STATEMENT_HOURS = defineHourTable({
  table: 'faultboard_repeated_statement_hours',
  names: { environment: MAX_ENVIRONMENT_LENGTH, statement: 1000, route: 500, place: 500 },
  amounts: {
    request_count: 'add',
    statement_count: 'add',
    worst_count: 'greatest',
    duration_ms: 'add',
    last_seen_at: 'greatest',
  },
})
