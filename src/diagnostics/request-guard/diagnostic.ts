import { lazyOperations } from '../../operation.js'
import { defineDiagnostic } from '../define.js'
import { deleteOldHours } from '../hourly/delete-old-hours.js'
import { collectGuardEvents, requestGuardApi } from './collector.js'
import { requestGuardOptions } from './options.js'

const lazily = lazyOperations(() => import('./query.js'))

/** Counts throttle, blocklist and track events of rate limiters. */
export const requestGuard = defineDiagnostic({
  name: 'request_guard',
  options: requestGuardOptions,
  needs: ['enable_request_guard_tracking', 'enable_breadcrumbs'],
  collect: collectGuardEvents,
  api: requestGuardApi,
  queries: { RequestGuardSummary: lazily('requestGuardSummary') },
  page: () => import('./page.js'),
  async retention(context) {
    const { foldGuardHours } = await import('./fold-guard-hours.js')
    await deleteOldHours(context, 'faultboard_request_guard_hours')
    await foldGuardHours(context)
  },
})
