import type { Rendered } from '../../define.js'

/** What the keys do; `assets/js/keyboard.js` makes them do it. */
const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ['j / k', 'Next, previous error of the list'],
  ['Enter', 'Open it'],
  ['x', 'Choose it'],
  ['e', 'Resolve'],
  ['a', 'Assign'],
  ['s', 'Snooze'],
  ['/', 'Search'],
  ['g o', 'Overview'],
  ['g e', 'Errors'],
  ['g s', 'Settings'],
  ['?', 'These shortcuts'],
  ['Esc', 'Close what is open'],
]

export function Shortcuts(): Rendered {
  return (
    <div id="shortcuts" class="sheet" popover="auto" role="dialog" aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl class="keys">
        {SHORTCUTS.map(([keys, does]) => (
          <>
            <dt>{keys.split(' ').map((key) => (key === '/' && keys !== '/' ? ' / ' : <kbd>{key}</kbd>))}</dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <label class="check" hidden data-shortcuts-switch>
        <input type="checkbox" />
        <span>Use shortcuts of a single key</span>
      </label>
      <noscript>
        <p class="muted">Shortcuts need JavaScript; everything else here works without it.</p>
      </noscript>
      <button type="button" popovertarget="shortcuts" popovertargetaction="hide">
        Close
      </button>
    </div>
  )
}
