import type { Destination, Rendered, Visit } from '../../define.js'
import { currentPageWith, href } from '../../links/href.js'
import { THEMES } from '../../preferences.js'
import { Icon } from '../icons.js'
import { findDestination, HEALTH, MAIN, SETTINGS } from './navigation.js'

/** Sidebar with the navigation. On narrow screens it is a popover. */
export function Rail({ visit }: { visit: Visit }): Rendered {
  return (
    <nav id="rail" class="rail" popover="auto" aria-label="Main">
      <div class="rail-head">
        <a class="brand" href={href(visit, '/overview')}>
          <Mark />
          <span class="word">Faultboard</span>
        </a>
        <RailSwitch visit={visit} />
      </div>
      <ApplicationSwitcher visit={visit} />
      <NavigationLinks destinations={MAIN} visit={visit} />
      <p class="rail-title">Diagnostics</p>
      <NavigationLinks destinations={[...visit.navigation, HEALTH]} visit={visit} />
      <div class="rail-foot">
        <NavigationLinks destinations={[SETTINGS]} visit={visit} />
        <div class="rail-tools">
          <ThemeSwitch visit={visit} />
          <button type="button" class="quiet" popovertarget="shortcuts" aria-label="Keyboard shortcuts">
            <Icon name="help" />
          </button>
        </div>
        <p class="rail-user word">
          <span class="rail-name">{visit.user}</span>
          {visit.tracker.version && (
            <span title={`Faultboard ${visit.tracker.version}`}>{`v${visit.tracker.version}`}</span>
          )}
        </p>
      </div>
    </nav>
  )
}

/** Header of narrow screens with the button that opens the sidebar. */
export function TopBar({ visit }: { visit: Visit }): Rendered {
  return (
    <header class="top-bar">
      <button type="button" class="quiet" popovertarget="rail" aria-label="Menu">
        <Icon name="menu" />
      </button>
      <a class="brand" href={href(visit, '/overview')}>
        <Mark />
        <span>Faultboard</span>
      </a>
    </header>
  )
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <rect width="20" height="20" rx="5" />
      <path d="M4 11.5h3l2-6 3 9 2-6 .8 3H16" />
    </svg>
  )
}

function NavigationLinks({ destinations, visit }: { destinations: readonly Destination[]; visit: Visit }) {
  const current = findDestination(visit)?.path
  return (
    <ul class="rail-links">
      {destinations.map(({ path, label, icon, query, needs = [] }) => {
        const disabledBy = needs.filter((name) => !visit.switches[name])
        const healthLabel = path === HEALTH.path ? HEALTH_LABELS[visit.tracker.state] : null
        return (
          <li>
            <a
              href={href(visit, path, query)}
              aria-current={current === path ? 'page' : undefined}
              aria-label={healthLabel ? `${label}: ${healthLabel}` : undefined}
              class={disabledBy.length > 0 ? 'off' : undefined}
              title={
                disabledBy.length > 0
                  ? `Off: set ${disabledBy.join(' and ')} to true`
                  : healthLabel
                    ? `${label}: ${healthLabel}`
                    : label
              }
            >
              <Icon path={icon} />
              <span class="word">{label}</span>
              {disabledBy.length > 0 && <span class="word off-word">off</span>}
              {healthLabel && <span class={`rail-dot rail-dot-${visit.tracker.state}`} />}
            </a>
          </li>
        )
      })}
    </ul>
  )
}

const HEALTH_LABELS = { ok: null, degraded: 'degraded', failing: 'failing' } as const

function ApplicationSwitcher({ visit }: { visit: Visit }) {
  const { applications, application_id } = visit
  if (applications.length < 2)
    return <p class="rail-application word">{applications[0]?.name ?? visit.application_name}</p>
  const selected = applications.find(({ id }) => id === application_id)
  // An error belongs to one application, so switching from its page opens the list.
  const target = /\/\d+$/.test(visit.path) ? { ...visit, path: '/errors', query: new URLSearchParams() } : visit
  return (
    <details class="menu applications" name="menu">
      <summary title="Application">
        <span class="word">{selected?.name ?? 'All applications'}</span>
      </summary>
      <ul class="menu-panel">
        <li>
          <a href={currentPageWith(target, { application_id: null })} aria-current={selected ? undefined : 'true'}>
            All applications
          </a>
        </li>
        {applications.map(({ id, name }) => (
          <li>
            <a
              href={currentPageWith(target, { application_id: id })}
              aria-current={id === application_id ? 'true' : undefined}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}

const THEME_LABELS = { auto: 'Auto', light: 'Light', dark: 'Dark' } as const

function ThemeSwitch({ visit }: { visit: Visit }) {
  return (
    <form class="theme-switch word" method="post" action={`${visit.base}/preferences`} aria-label="Theme">
      <ReturnTo visit={visit} />
      {THEMES.map((theme) => (
        <button
          type="submit"
          name="theme"
          value={theme}
          aria-pressed={String(theme === visit.theme)}
          title={theme === 'auto' ? 'Follow the system theme' : THEME_LABELS[theme]}
        >
          {THEME_LABELS[theme]}
        </button>
      ))}
    </form>
  )
}

function RailSwitch({ visit }: { visit: Visit }) {
  return (
    <form class="rail-switch" method="post" action={`${visit.base}/preferences`}>
      <ReturnTo visit={visit} />
      <button
        type="submit"
        class="quiet"
        name="rail"
        value={visit.rail_folded ? 'open' : 'folded'}
        aria-label={visit.rail_folded ? 'Expand sidebar' : 'Collapse sidebar'}
      >
        <Icon name={visit.rail_folded ? 'unfold' : 'fold'} />
      </button>
    </form>
  )
}

function ReturnTo({ visit }: { visit: Visit }) {
  return (
    <input type="hidden" name="return_to" value={`${visit.path}${visit.query.size > 0 ? `?${visit.query}` : ''}`} />
  )
}
