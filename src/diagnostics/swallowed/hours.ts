import { MAX_ENVIRONMENT_LENGTH } from '../../model/environment.js'
import { defineHourTable } from '../../store/counters/define-hour-table.js'

/** Exceptions by the code locations that raised and caught them. */
export const SWALLOWED_HOURS = defineHourTable({
  table: 'faultboard_swallowed_exceptions',
  names: {
    environment: MAX_ENVIRONMENT_LENGTH,
    error_type: 255,
    raise_location: 500,
    rescue_location: 500,
    handler_kind: 16,
  },
  amounts: { raise_count: 'add', rescue_count: 'add', reported_count: 'add', last_seen_at: 'greatest' },
})
