import { boolean } from '../../config/kinds.js'
import { row } from '../../config/options.js'

export const requestGuardOptions = {
  enable_request_guard_tracking: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Counts throttle, blocklist and track events of rate limiters; requires enable_breadcrumbs.',
  }),
}
