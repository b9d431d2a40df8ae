import type { Rendered, Visit } from '../../define.js'
import { currentPageWith, href, pathWith } from '../../links/href.js'
import { THEMES } from '../../preferences.js'
import { Icon } from '../icons.js'
import { findPosition, HEALTH, listSections } from './navigation.js'
import { PaletteButton } from './palette.js'

/** Sidebar with the navigation. On narrow screens it is a popover, on medium screens it shows icons only. */
export function Rail({ visit }: { visit: Visit }): Rendered {
  return (
    <nav id="rail" class="rail" popover="auto" aria-label="Main">
      <div class="rail-head">
        <a class="brand" href={href(visit, '/overview')}>
          <Mark />
          <span class="word">Faultboard</span>
        </a>
        <RailSwitch visit={visit} />
        <button type="button" class="quiet rail-menu" popovertarget="rail" aria-label="Menu">
          <Icon name="menu" />
        </button>
      </div>
      <FoldedEnvironment visit={visit} />
      <ApplicationSwitcher visit={visit} />
      <EnvironmentSwitcher visit={visit} />
      <PaletteButton />
      <NavigationLinks visit={visit} />
      <div class="rail-foot">
        <div class="rail-tools">
          <ThemeSwitch visit={visit} />
          <button type="button" class="quiet" popovertarget="shortcuts" aria-label="Keyboard shortcuts">
            <Icon name="help" />
          </button>
        </div>
        <p class="rail-user">
          <HealthLink visit={visit} />
          {visit.tracker.version && (
            <span class="word" title={`Faultboard ${visit.tracker.version}`}>{`v${visit.tracker.version}`}</span>
          )}
        </p>
        <p class="rail-user word">
          <span class="rail-name">{visit.user}</span>
          <SignOut visit={visit} />
        </p>
      </div>
    </nav>
  )
}

/** Link that ends a session of the host. Basic credentials have no link, because browsers keep them until closed. */
function SignOut({ visit }: { visit: Visit }): Rendered {
  const { sign_out_url } = visit.options
  if (sign_out_url === null || visit.identity?.kind !== 'host') return null
  return <a href={sign_out_url}>Sign out</a>
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
      <SelectedEnvironment visit={visit} />
      <PaletteButton />
    </header>
  )
}

/** Selected environment of a sidebar that shows icons only. */
function FoldedEnvironment({ visit: { environment, ignoresEnvironment } }: { visit: Visit }) {
  if (environment === null || ignoresEnvironment) return null
  return (
    <p class="folded-environment" title={`Environment: ${environment}`}>
      <bdi>{environment}</bdi>
    </p>
  )
}

/** Opens the sidebar with the switcher. */
function SelectedEnvironment({ visit: { environment, ignoresEnvironment } }: { visit: Visit }) {
  if (environment === null || ignoresEnvironment) return null
  return (
    <button type="button" class="quiet top-environment" popovertarget="rail" title={`Environment: ${environment}`}>
      <bdi>{environment}</bdi>
    </button>
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

function NavigationLinks({ visit }: { visit: Visit }) {
  const current = findPosition(visit)?.section.label
  return (
    <ul class="rail-links">
      {listSections(visit).map(({ path, start = path, label, icon, key, query }) => (
        <li>
          <a
            href={href(visit, start, query)}
            aria-current={current === label ? (start === visit.path ? 'page' : 'true') : undefined}
            title={label}
            data-go={key}
          >
            <Icon path={icon} />
            <span class="word">{label}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

const HEALTH_TEXTS = { ok: 'Healthy', degraded: 'Degraded', failing: 'Failing' } as const

/** Dot with the state of the tracker, visible on every page. */
function HealthLink({ visit }: { visit: Visit }) {
  const { state } = visit.tracker
  const label = state === 'ok' ? HEALTH.label : `${HEALTH.label}: ${state}`
  return (
    <a class="rail-health" href={href(visit, HEALTH.path)} aria-label={label} title={label} data-go={HEALTH.key}>
      <span class={`rail-dot rail-dot-${state}`} />
      <span class="word">{HEALTH_TEXTS[state]}</span>
    </a>
  )
}

function ApplicationSwitcher({ visit }: { visit: Visit }) {
  const { applications, application_id } = visit
  if (applications.length < 2)
    return <p class="rail-application word">{applications[0]?.name ?? visit.application_name}</p>
  return (
    <Switcher
      title="Application"
      parameter="application_id"
      all="All applications"
      options={applications.map(({ id, name }) => [id, name])}
      selected={application_id}
      visit={visit}
    />
  )
}

/** Lists the selected environment even if it has no errors, so that the visitor can switch to another environment. */
function EnvironmentSwitcher({ visit }: { visit: Visit }) {
  const { environment, environments, ignoresEnvironment } = visit
  const names = environment === null ? environments : [...new Set([...environments, environment])]
  if (names.length < 2) return null
  if (ignoresEnvironment) {
    return (
      <p class="rail-application rail-scope word" title="This page is not filtered by environment">
        All environments
      </p>
    )
  }
  return (
    <Switcher
      title="Environment"
      parameter="environment"
      all="All environments"
      options={names.map((name) => [name, name])}
      selected={environment}
      visit={visit}
    />
  )
}

interface SwitcherProps {
  title: string
  parameter: 'application_id' | 'environment'
  /** Label of the entry for no selection. */
  all: string
  options: readonly (readonly [value: number | string, name: string])[]
  selected: number | string | null
  visit: Visit
}

/** Menu that opens the current page with another application or environment. */
function Switcher({ title, parameter, all, options, selected, visit }: SwitcherProps): Rendered {
  const selectedName = options.find(([value]) => value === selected)?.[1]
  // A record belongs to one application and environment, so switching from its page opens the list.
  const listPath = /^(.+)\/\d+$/.exec(visit.path)?.[1]
  const target = listPath ? { ...visit, path: listPath, query: remainingScope(visit) } : visit
  return (
    <details class="menu switcher" name="menu">
      <summary title={title}>
        <span class="word">{selectedName ?? all}</span>
      </summary>
      <ul class="menu-panel">
        <li>
          <a href={currentPageWith(target, { [parameter]: null })} aria-current={selectedName ? undefined : 'true'}>
            {all}
          </a>
        </li>
        {options.map(([value, name]) => (
          <li>
            <a
              href={currentPageWith(target, { [parameter]: value })}
              aria-current={value === selected ? 'true' : undefined}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}

function remainingScope({ application_id, environment }: Visit): URLSearchParams {
  return new URLSearchParams(pathWith('', { application_id, environment }))
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
