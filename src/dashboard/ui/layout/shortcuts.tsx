import type { Rendered, Visit } from '../../define.js'
import { listShortcuts } from './commands.js'
import { Keys } from './keys.js'

/** Keyboard shortcuts, implemented in `assets/js/keyboard.js`. */
export function Shortcuts({ visit }: { visit: Visit }): Rendered {
  return (
    <div id="shortcuts" class="sheet" popover="auto" role="dialog" aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl class="keys">
        {listShortcuts(visit).map(({ keys = '', label }) => (
          <>
            <dt>
              <Keys keys={keys} />
            </dt>
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
