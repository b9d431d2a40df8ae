import { allows } from '../../access.js'
import type { Destination, Visit } from '../../define.js'
import { ICONS } from '../icons.js'

/** Entry of the sidebar. The keyboard shortcut is `g` and the key. */
export interface Section extends Destination {
  readonly icon: string
  readonly key: string
  /** Page that the link opens instead of `path`. */
  readonly start?: string | undefined
  /** Pages of a section with several pages. */
  readonly tabs?: readonly Destination[]
}

const INSIGHTS: readonly Destination[] = [
  { path: '/errors/analytics', label: 'Analytics' },
  {
    path: '/errors/platform_comparison',
    label: 'Platforms',
    needs: ['enable_platform_comparison'],
    preview: {
      benefit: 'Compare iOS, Android, Web and API: error rate, stability and shared errors.',
      sample: {
        columns: ['Platform', 'Occurrences', 'Change', 'Stability', 'Resolved'],
        rows: [
          ['API', '7,016', '+4%', '81 stable', '22%'],
          ['Web', '3,393', '-12%', '74 stable', '18%'],
          ['iOS', '1,355', '+61%', '48 at risk', '9%'],
          ['Android', '543', '+2%', '69 at risk', '14%'],
        ],
      },
    },
  },
  { path: '/errors/correlation', label: 'Correlation' },
]

/** Linked by the health indicator below the sections, too. */
export const HEALTH = { path: '/health', label: 'Health', key: 'h' } as const

const SETTINGS: readonly Destination[] = [
  HEALTH,
  { path: '/settings', label: 'Configuration' },
  { path: '/settings/access', label: 'Access', role: 'admin' },
  { path: '/settings/audit', label: 'Audit', role: 'admin' },
]

type NavigationVisit = Pick<Visit, 'path' | 'navigation' | 'switches' | 'identity'>

/** Sections from top to bottom. The sidebar, the tabs and the keyboard shortcuts derive from this list. */
export function listSections(visit: NavigationVisit): readonly Section[] {
  const diagnostics = diagnosticTabs(visit)
  return [
    { path: '/overview', label: 'Overview', icon: ICONS.overview, key: 'o' },
    {
      path: '/errors',
      label: 'Errors',
      icon: ICONS.errors,
      key: 'e',
      query: { unresolved: true, hide_snoozed: true },
    },
    { path: '/releases', label: 'Releases', icon: ICONS.releases, key: 'r' },
    { path: '/errors/analytics', label: 'Insights', icon: ICONS.analytics, key: 'i', tabs: INSIGHTS },
    { path: '/notifications', label: 'Alerts', icon: ICONS.notifications, key: 'a' },
    {
      path: '/runtime',
      start: diagnostics[0]?.path,
      label: 'Runtime',
      icon: ICONS.runtime,
      key: 't',
      tabs: diagnostics,
    },
    {
      path: '/settings',
      label: 'Settings',
      icon: ICONS.settings,
      key: 's',
      tabs: SETTINGS.filter(({ role = 'viewer' }) => allows(visit, role)),
    },
  ]
}

/** Tabs of enabled diagnostics, and one tab for all disabled diagnostics. */
function diagnosticTabs({ path, navigation, switches }: NavigationVisit): readonly Destination[] {
  const enabled = navigation.filter((destination) => isEnabled(destination, switches))
  const disabled = navigation.filter((destination) => !isEnabled(destination, switches))
  // Keeps the tab while its page is open.
  if (disabled.length === 0 && path !== '/runtime') return enabled
  const label = enabled.length === 0 || disabled.length === 0 ? 'Diagnostics' : 'More diagnostics'
  return [...enabled, { path: '/runtime', label, pages: disabled }]
}

export function isEnabled({ needs = [] }: Destination, switches: Visit['switches']): boolean {
  return needs.every((option) => switches[option])
}

/** Position of the current page in the navigation. */
export interface Position {
  section: Section
  tab: Destination | undefined
  /** Tab, page below a tab, or section. */
  destination: Destination
}

/** Position with the longest matching path. */
export function findPosition(visit: NavigationVisit): Position | undefined {
  const positions = listSections(visit).flatMap((section): Position[] => {
    const { tabs = [] } = section
    const pages = tabs.flatMap((tab) =>
      [tab, ...(tab.pages ?? [])].map((destination) => ({ section, tab, destination })),
    )
    return [...pages, { section, tab: undefined, destination: section }]
  })
  return positions
    .filter(({ destination: { path } }) => visit.path === path || visit.path.startsWith(`${path}/`))
    .sort((a, b) => b.destination.path.length - a.destination.path.length)[0]
}
