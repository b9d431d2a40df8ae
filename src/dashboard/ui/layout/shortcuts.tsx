import type { Rendered, Visit } from '../../define.js'
import { HEALTH, listSections } from './navigation.js'

type Shortcut = readonly [keys: string, label: string]

/** Keyboard shortcuts, implemented in `assets/js/keyboard.js`. */
const SHORTCUTS: readonly Shortcut[] = [
  ['j / k', 'Next / previous error'],
  ['Enter', 'Open'],
  ['x', 'Select'],
  ['e', 'Resolve'],
  ['a', 'Assign'],
  ['s', 'Snooze'],
  ['/', 'Search'],
  ['?', 'Keyboard shortcuts'],
  ['Esc', 'Close'],
]

export function Shortcuts({ visit }: { visit: Visit }): Rendered {
  const pages = [...listSections(visit), HEALTH].map(({ key, label }): Shortcut => [`g ${key}`, label])
  return (
    <div id="shortcuts" class="sheet" popover="auto" role="dialog" aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl class="keys">
        {[...SHORTCUTS, ...pages].map(([keys, label]) => (
          <>
            <dt>{keys.split(' ').map((key) => (key === '/' && keys !== '/' ? ' / ' : <kbd>{key}</kbd>))}</dt>
            <dd>{label}</dd>
          </>
        ))}
      </dl>
      <label class="check" hidden data-shortcuts-switch>
        <input type="checkbox" />
        <span>Enable single-key shortcuts</span>
      </label>
      <noscript>
        <p class="muted">Shortcuts require JavaScript. Everything else works without it.</p>
      </noscript>
      <button type="button" popovertarget="shortcuts" popovertargetaction="hide">
        Close
      </button>
    </div>
  )
}
