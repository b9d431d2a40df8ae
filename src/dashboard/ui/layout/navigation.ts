import type { SwitchName } from '../../../config/options.js'
import type { LinkParameters } from '../../href.js'
import type { IconName } from '../icons.js'

export interface Destination {
  path: string
  label: string
  icon: IconName
  query?: LinkParameters
  /** The options without which the page is switched off. */
  needs?: readonly SwitchName[]
}

/** What the rail leads to, from top to bottom. */
export const MAIN: readonly Destination[] = [
  { path: '/overview', label: 'Overview', icon: 'overview' },
  { path: '/errors', label: 'Errors', icon: 'errors', query: { unresolved: true, hide_snoozed: true } },
  { path: '/errors/analytics', label: 'Analytics', icon: 'analytics' },
  { path: '/releases', label: 'Releases', icon: 'releases' },
  {
    path: '/errors/platform_comparison',
    label: 'Platforms',
    icon: 'platforms',
    needs: ['enable_platform_comparison'],
  },
  { path: '/errors/correlation', label: 'Correlation', icon: 'correlation' },
  { path: '/notifications', label: 'Notifications', icon: 'notifications' },
]

export const DIAGNOSTICS: readonly Destination[] = [
  {
    path: '/errors/swallowed_exceptions',
    label: 'Swallowed',
    icon: 'swallowed',
    needs: ['detect_swallowed_exceptions'],
  },
  { path: '/errors/diagnostic_dumps', label: 'Dumps', icon: 'dumps', needs: ['enable_diagnostic_dump'] },
  {
    path: '/errors/request_guard_summary',
    label: 'Request guard',
    icon: 'guard',
    needs: ['enable_request_guard_tracking', 'enable_breadcrumbs'],
  },
  {
    path: '/errors/n_plus_one',
    label: 'N+1 queries',
    icon: 'repeats',
    needs: ['detect_n_plus_one_queries', 'enable_breadcrumbs'],
  },
  {
    path: '/errors/deprecations',
    label: 'Deprecations',
    icon: 'deprecations',
    needs: ['enable_deprecation_tracking', 'enable_breadcrumbs'],
  },
  { path: '/process_health', label: 'Processes', icon: 'processes', needs: ['enable_process_health'] },
  { path: '/health', label: 'Health', icon: 'health' },
]

export const SETTINGS: Destination = { path: '/settings', label: 'Settings', icon: 'settings' }

/** The destination that a page belongs to: the one that names most of its path. */
export function destinationOf(path: string): Destination | undefined {
  const fitting = [...MAIN, ...DIAGNOSTICS, SETTINGS].filter(
    (one) => path === one.path || path.startsWith(`${one.path}/`),
  )
  return fitting.sort((a, b) => b.path.length - a.path.length)[0]
}
