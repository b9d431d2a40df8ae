import { MAX_ENVIRONMENT_LENGTH } from '../../model/environment.js'
import { defineHourTable } from '../../store/counters/define-hour-table.js'

/** Events of rate limiters. */
export const GUARD_HOURS = defineHourTable({
  table: 'faultboard_request_guard_hours',
  names: { environment: MAX_ENVIRONMENT_LENGTH, kind: 16, rule: 255, ip_address: 64, path: 500 },
  amounts: { count: 'add', last_seen_at: 'greatest' },
})
