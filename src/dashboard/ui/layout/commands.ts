import type { Role } from '../../../model/people/identity.js'
import { allows } from '../../access.js'
import type { Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { HEALTH, listSections } from './navigation.js'

/** Command of the palette and entry of the list of shortcuts. */
export interface Command {
  label: string
  /** Shortcut as shown, such as `g o`. */
  keys?: string
  /** Page that the command opens. */
  href?: string
  /** Key that `assets/js/keyboard.js` handles. */
  key?: string
  /** Role required by the command, if not every role can use it. */
  role?: Role
  /** Selector of the element that the key acts on. The palette omits the command if the element is missing. */
  needs?: string
}

/** Shortcuts of the list and the error page, which act on a row or an error. */
const ERROR_KEYS: readonly Command[] = [
  { keys: 'e', label: 'Resolve', key: 'e', needs: '#resolve', role: 'responder' },
  { keys: 'a', label: 'Assign', key: 'a', needs: '#assign', role: 'responder' },
  { keys: 's', label: 'Snooze', key: 's', needs: '#snooze', role: 'responder' },
  { keys: 'm', label: 'Mute', key: 'm', needs: '#mute', role: 'responder' },
  { keys: 'c', label: 'Comment', key: 'c', needs: '.comment-form', role: 'responder' },
  { keys: 'l', label: 'Copy link', key: 'l', needs: '[data-key=l]' },
]

/** Shortcuts of the error page, if the error was opened from a list. */
const NEIGHBOR_KEYS: readonly Command[] = [
  { keys: 'j', label: 'Next error in the list', key: 'j', needs: '.error-beside [rel=next]' },
  { keys: 'k', label: 'Previous error in the list', key: 'k', needs: '.error-beside [rel=prev]' },
]

function errorKeys(visit: Visit): readonly Command[] {
  return ERROR_KEYS.filter(({ role = 'viewer' }) => allows(visit, role))
}

/** All shortcuts, in the order of the help. */
export function listShortcuts(visit: Visit): readonly Command[] {
  return [
    { keys: 'Ctrl K', label: 'Command palette' },
    { keys: 'j / k', label: 'Next / previous error' },
    { keys: 'Enter', label: 'Open' },
    ...(allows(visit, 'responder') ? [{ keys: 'x', label: 'Select' }] : []),
    ...errorKeys(visit),
    { keys: '/', label: 'Search' },
    ...pageCommands(visit).filter(({ keys }) => keys),
    { keys: '?', label: 'Keyboard shortcuts' },
    { keys: 'Esc', label: 'Close' },
  ]
}

/** Commands of the palette: actions on the current error, then all pages. */
export function listCommands(visit: Visit): readonly Command[] {
  const isErrorPage = /^\/errors\/\d+$/.test(visit.path)
  return [
    ...(isErrorPage ? [...errorKeys(visit), ...NEIGHBOR_KEYS] : []),
    ...pageCommands(visit),
    { keys: '?', label: 'Keyboard shortcuts', key: '?' },
  ]
}

function pageCommands(visit: Visit): Command[] {
  const commands = listSections(visit).flatMap(({ path, start = path, label, key, query, tabs = [] }): Command[] => [
    { keys: `g ${key}`, label, href: href(visit, start, query) },
    ...tabs
      .filter((tab) => tab.path !== start && tab.path !== HEALTH.path)
      .map((tab) => ({ label: `${label}: ${tab.label}`, href: href(visit, tab.path) })),
  ])
  return [...commands, { keys: `g ${HEALTH.key}`, label: HEALTH.label, href: href(visit, HEALTH.path) }]
}
