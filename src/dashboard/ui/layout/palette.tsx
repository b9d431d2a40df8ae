import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { Icon } from '../icons.js'
import { listCommands } from './commands.js'
import { Keys } from './keys.js'

/** Command palette, operated by `assets/js/palette.js`. */
export function Palette({ visit }: { visit: Visit }): Rendered {
  return (
    <dialog id="palette" class="palette" aria-label="Command palette" data-errors={href(visit, '/errors')}>
      <input
        type="text"
        role="combobox"
        aria-label="Command, error id or text"
        aria-expanded="true"
        aria-controls="commands"
        aria-autocomplete="list"
        placeholder="Go to a page or an error: type a name, an id or text"
        autocomplete="off"
        maxlength={1000}
      />
      <div id="commands" class="commands" role="listbox" aria-label="Commands">
        {listCommands(visit).map((command, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option
          <div
            id={`command-${i}`}
            role="option"
            aria-selected="false"
            data-href={command.href}
            data-key={command.key}
            data-needs={command.needs}
          >
            <span>{command.label}</span>
            {command.keys && <Keys keys={command.keys} />}
          </div>
        ))}
      </div>
    </dialog>
  )
}

/** Opens the palette. Hidden without JavaScript, which the palette requires. */
export function PaletteButton(): Rendered {
  return (
    <button type="button" class="quiet palette-button" data-open-palette title="Search or jump to (Ctrl K)">
      <Icon name="search" />
      <span class="word">Search or jump to</span>
    </button>
  )
}
