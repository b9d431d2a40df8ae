import type { Destination, Visit } from '../../define.js'
import { ICONS } from '../icons.js'

/** Sidebar entries from top to bottom. */
export const MAIN: readonly Destination[] = [
  { path: '/overview', label: 'Overview', icon: ICONS.overview },
  { path: '/errors', label: 'Errors', icon: ICONS.errors, query: { unresolved: true, hide_snoozed: true } },
  { path: '/errors/analytics', label: 'Analytics', icon: ICONS.analytics },
  { path: '/releases', label: 'Releases', icon: ICONS.releases },
  {
    path: '/errors/platform_comparison',
    label: 'Platforms',
    icon: ICONS.platforms,
    needs: ['enable_platform_comparison'],
  },
  { path: '/errors/correlation', label: 'Correlation', icon: ICONS.correlation },
  { path: '/notifications', label: 'Notifications', icon: ICONS.notifications },
]

export const HEALTH: Destination = { path: '/health', label: 'Health', icon: ICONS.health }

export const SETTINGS: Destination = { path: '/settings', label: 'Settings', icon: ICONS.settings }

/** Destination with the longest matching path. */
export function findDestination({ path, navigation }: Pick<Visit, 'path' | 'navigation'>): Destination | undefined {
  const matches = [...MAIN, ...navigation, HEALTH, SETTINGS].filter(
    (destination) => path === destination.path || path.startsWith(`${destination.path}/`),
  )
  return matches.sort((a, b) => b.path.length - a.path.length)[0]
}
