import type { Destination, Rendered, Visit } from '../../define.js'
import { href, sameWith } from '../../href.js'
import { THEMES } from '../../preferences.js'
import { Icon } from '../icons.js'
import { destinationOf, HEALTH, MAIN, SETTINGS } from './navigation.js'

/** The way to every page. On a narrow screen it is a sheet, which the browser itself opens and closes. */
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
      <Links destinations={MAIN} visit={visit} />
      <p class="rail-title">Diagnostics</p>
      <Links destinations={[...visit.navigation, HEALTH]} visit={visit} />
      <div class="rail-foot">
        <Links destinations={[SETTINGS]} visit={visit} />
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

/** The bar of a narrow screen, from which the rail is opened. */
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

function Links({ destinations, visit }: { destinations: readonly Destination[]; visit: Visit }) {
  const current = destinationOf(visit)?.path
  return (
    <ul class="rail-links">
      {destinations.map(({ path, label, icon, query, needs = [] }) => {
        const off = needs.filter((name) => !visit.switches[name])
        const worry = path === HEALTH.path ? WORRIES[visit.tracker.state] : null
        return (
          <li>
            <a
              href={href(visit, path, query)}
              aria-current={current === path ? 'page' : undefined}
              aria-label={worry ? `${label}: ${worry}` : undefined}
              class={off.length > 0 ? 'off' : undefined}
              title={off.length > 0 ? `Off: set ${off.join(' and ')} to true` : worry ? `${label}: ${worry}` : label}
            >
              <Icon path={icon} />
              <span class="word">{label}</span>
              {off.length > 0 && <span class="word off-word">off</span>}
              {worry && <span class={`rail-dot rail-dot-${visit.tracker.state}`} />}
            </a>
          </li>
        )
      })}
    </ul>
  )
}

const WORRIES = { ok: null, degraded: 'degraded', failing: 'failing' } as const

function ApplicationSwitcher({ visit }: { visit: Visit }) {
  const { applications, application_id } = visit
  if (applications.length < 2)
    return <p class="rail-application word">{applications[0]?.name ?? visit.application_name}</p>
  const chosen = applications.find(({ id }) => id === application_id)
  // A page of one error belongs to one application; from there the switch leads to the list.
  const target = /\/\d+$/.test(visit.path) ? { ...visit, path: '/errors', query: new URLSearchParams() } : visit
  return (
    <details class="menu applications" name="menu">
      <summary title="Application">
        <span class="word">{chosen?.name ?? 'All applications'}</span>
      </summary>
      <ul class="menu-panel">
        <li>
          <a href={sameWith(target, { application_id: null })} aria-current={chosen ? undefined : 'true'}>
            All applications
          </a>
        </li>
        {applications.map(({ id, name }) => (
          <li>
            <a
              href={sameWith(target, { application_id: id })}
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

const THEME_WORDS = { auto: 'As the system', light: 'Light', dark: 'Dark' } as const

function ThemeSwitch({ visit }: { visit: Visit }) {
  return (
    <form class="theme-switch word" method="post" action={`${visit.base}/preferences`} aria-label="Colours">
      <ReturnTo visit={visit} />
      {THEMES.map((theme) => (
        <button
          type="submit"
          name="theme"
          value={theme}
          aria-pressed={String(theme === visit.theme)}
          title={THEME_WORDS[theme]}
        >
          {theme === 'auto' ? 'Auto' : THEME_WORDS[theme]}
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
        aria-label={visit.rail_folded ? 'Show the words of the menu' : 'Fold the menu to icons'}
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
