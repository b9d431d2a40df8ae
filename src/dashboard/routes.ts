import { deprecationsPage } from '../diagnostics/deprecations/page.js'
import { diagnosticDumpPage } from '../diagnostics/dumps/pages/diagnostic-dump.js'
import { diagnosticDumpsPage } from '../diagnostics/dumps/pages/diagnostic-dumps.js'
import { dumpActions } from '../diagnostics/dumps/pages/dump-actions.js'
import { dumpFile } from '../diagnostics/dumps/pages/dump-file.js'
import { nPlusOnePage } from '../diagnostics/n-plus-one/page.js'
import { processHealthPage } from '../diagnostics/processes/page.js'
import { requestGuardSummaryPage } from '../diagnostics/request-guard/page.js'
import { swallowedExceptionsPage } from '../diagnostics/swallowed/page.js'
import { batchAction } from './actions/batch-action.js'
import { errorActions } from './actions/error-actions.js'
import { notificationActions } from './actions/notifications.js'
import { savedViewActions } from './actions/saved-views.js'
import { setPreference } from './actions/set-preference.js'
import type { Action, Download, Endpoint, Feed, Page } from './define.js'
import { live } from './live.js'
import { openapi } from './openapi/page.js'
import { analytics } from './pages/analytics/page.js'
import { correlation } from './pages/correlation/page.js'
import { error } from './pages/error/page.js'
import { changes } from './pages/errors/changes.js'
import { errors } from './pages/errors/page.js'
import { health } from './pages/health/page.js'
import { notifications } from './pages/notifications/page.js'
import { overview } from './pages/overview/page.js'
import { platformComparison } from './pages/platforms/page.js'
import { releases } from './pages/releases/page.js'
import { settings } from './pages/settings/page.js'

/** THE TABLE of endpoints: everything the dashboard answers below its mount path. */
export const PAGES: readonly Page[] = [
  overview,
  errors,
  error,
  notifications,
  settings,
  health,
  swallowedExceptionsPage,
  diagnosticDumpsPage,
  diagnosticDumpPage,
  processHealthPage,
  requestGuardSummaryPage,
  deprecationsPage,
  nPlusOnePage,
  analytics,
  releases,
  platformComparison,
  correlation,
]

export const FEEDS: readonly Feed[] = [changes, openapi]

export const DOWNLOADS: readonly Download[] = [dumpFile]

export const STREAM: Endpoint = live

export const ACTIONS: readonly Action[] = [
  ...errorActions,
  batchAction,
  ...savedViewActions,
  setPreference,
  ...dumpActions,
  ...notificationActions,
]
