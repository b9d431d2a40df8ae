import { apiTokenActions } from './actions/api-tokens.js'
import { batchAction } from './actions/batch-action.js'
import { errorActions } from './actions/error-actions.js'
import { notificationActions } from './actions/notifications.js'
import { savedViewActions } from './actions/saved-views.js'
import { setPreference } from './actions/set-preference.js'
import type { Action, DashboardPart, Destination, Page, Routes } from './define.js'
import { openapiFeed } from './openapi/page.js'
import { access } from './pages/access/page.js'
import { analytics } from './pages/analytics/page.js'
import { audit } from './pages/audit/page.js'
import { correlation } from './pages/correlation/page.js'
import { error } from './pages/error/page.js'
import { changes } from './pages/errors/changes.js'
import { errors } from './pages/errors/page.js'
import { tags } from './pages/errors/tags.js'
import { health } from './pages/health/page.js'
import { notifications } from './pages/notifications/page.js'
import { overview } from './pages/overview/page.js'
import { platformComparison } from './pages/platforms/page.js'
import { releases } from './pages/releases/page.js'
import { runtime } from './pages/runtime/page.js'
import { settings } from './pages/settings/page.js'

/** Pages of the dashboard. Diagnostics add their own. */
const PAGES: readonly Page[] = [
  overview,
  errors,
  error,
  notifications,
  settings,
  access,
  audit,
  health,
  analytics,
  releases,
  platformComparison,
  correlation,
  runtime,
]

const ACTIONS: readonly Action[] = [
  ...errorActions,
  batchAction,
  ...savedViewActions,
  setPreference,
  ...notificationActions,
  ...apiTokenActions,
]

/** Combines the endpoints of the dashboard with those of the diagnostics. */
export function createRoutes(parts: readonly DashboardPart[]): Routes {
  const routes: Routes = {
    pages: [...PAGES, ...parts.flatMap(({ pages }) => pages)],
    feeds: [changes, tags, openapiFeed(() => routes)],
    downloads: parts.flatMap(({ downloads = [] }) => downloads),
    actions: [...ACTIONS, ...parts.flatMap(({ actions = [] }) => actions)],
    navigation: parts.flatMap(({ pages: [page], navigation }) =>
      page ? [{ ...navigation, ...toDestination(page) }] : [],
    ),
  }
  return routes
}

function toDestination({ path, role, needs }: Page): Pick<Destination, 'path' | 'role' | 'needs'> {
  return needs ? { path, role, needs: [needs].flat() } : { path, role }
}
