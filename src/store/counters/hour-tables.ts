import { MAX_ENVIRONMENT_LENGTH } from '../../model/environment.js'
import { defineHourTable } from './define-hour-table.js'

const environment = MAX_ENVIRONMENT_LENGTH

/** Events of rate limiters. */
export const GUARD_HOURS = defineHourTable({
  table: 'faultboard_request_guard_hours',
  names: { environment, kind: 16, rule: 255, ip_address: 64, path: 500 },
  amounts: { count: 'add', last_seen_at: 'greatest' },
})

/** Statements repeated within one request or job. */
export const STATEMENT_HOURS = defineHourTable({
  table: 'faultboard_repeated_statement_hours',
  names: { environment, statement: 1000, route: 500, place: 500 },
  amounts: {
    request_count: 'add',
    statement_count: 'add',
    worst_count: 'greatest',
    duration_ms: 'add',
    last_seen_at: 'greatest',
  },
})

/** Errors rejected by budgets. */
export const REJECTION_HOURS = defineHourTable({
  table: 'faultboard_rejection_hours',
  names: { budget: 64 },
  amounts: { count: 'add', first_seen_at: 'least', last_seen_at: 'greatest' },
})

/** Deprecation warnings and the code that caused them. */
export const DEPRECATION_HOURS = defineHourTable({
  table: 'faultboard_deprecation_hours',
  names: { environment, code: 64, message: 1000, place: 500, app_version: 128 },
  amounts: { count: 'add', first_seen_at: 'least', last_seen_at: 'greatest' },
})

/** Exceptions by the code locations that raised and caught them. */
export const SWALLOWED_HOURS = defineHourTable({
  table: 'faultboard_swallowed_exceptions',
  names: { environment, error_type: 255, raise_location: 500, rescue_location: 500, handler_kind: 16 },
  amounts: { raise_count: 'add', rescue_count: 'add', reported_count: 'add', last_seen_at: 'greatest' },
})
