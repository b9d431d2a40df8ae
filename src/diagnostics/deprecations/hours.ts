import { MAX_ENVIRONMENT_LENGTH } from '../../model/environment.js'
import { defineHourTable } from '../../store/counters/define-hour-table.js'

/** Deprecation warnings and the code that caused them. */
export const DEPRECATION_HOURS = defineHourTable({
  table: 'faultboard_deprecation_hours',
  names: { environment: MAX_ENVIRONMENT_LENGTH, code: 64, message: 1000, place: 500, app_version: 128 },
  amounts: { count: 'add', first_seen_at: 'least', last_seen_at: 'greatest' },
})
