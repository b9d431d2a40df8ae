import { hourTable } from './hour-table.js'

/** Events of rate limiters. */
export const GUARD_HOURS = hourTable({
  table: 'faultboard_request_guard_hours',
  digest: 'event_digest',
  names: { kind: 16, rule: 255, ip_address: 64, path: 500 },
  amounts: { count: 'add', last_seen_at: 'greatest' },
})

/** Statements that one request or job ran again and again. */
export const STATEMENT_HOURS = hourTable({
  table: 'faultboard_repeated_statement_hours',
  digest: 'statement_digest',
  names: { statement: 1000, route: 500, place: 500 },
  amounts: {
    request_count: 'add',
    statement_count: 'add',
    worst_count: 'greatest',
    duration_ms: 'add',
    last_seen_at: 'greatest',
  },
})

/** What budgets rejected. */
export const REJECTION_HOURS = hourTable({
  table: 'faultboard_rejection_hours',
  digest: 'budget_digest',
  names: { budget: 64 },
  amounts: { count: 'add', first_seen_at: 'least', last_seen_at: 'greatest' },
})

/** What is deprecated, and where it is used. */
export const DEPRECATION_HOURS = hourTable({
  table: 'faultboard_deprecation_hours',
  digest: 'warning_digest',
  names: { code: 64, message: 1000, place: 500, app_version: 128 },
  amounts: { count: 'add', first_seen_at: 'least', last_seen_at: 'greatest' },
})

/** What was raised in a place, where it was caught, and how much of it was reported. */
export const SWALLOWED_HOURS = hourTable({
  table: 'faultboard_swallowed_exceptions',
  digest: 'location_digest',
  names: { error_type: 255, raise_location: 500, rescue_location: 500, handler_kind: 16 },
  amounts: { raise_count: 'add', rescue_count: 'add', reported_count: 'add', last_seen_at: 'greatest' },
})
