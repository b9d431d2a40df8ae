import type { Rendered } from '../../define.js'

/** About three lines. Longer text is collapsed. */
const MAX_OPEN_CHARACTERS = 240

/** Text that is collapsed if it is long. Expands in place without JavaScript. */
export function Clamped({ text }: { text: string }): Rendered {
  if (text.length <= MAX_OPEN_CHARACTERS) return text
  return (
    <details class="clamped-text">
      <summary>
        <span class="beginning">{`${text.slice(0, MAX_OPEN_CHARACTERS)}… `}</span>
        <span class="expand">
          <span class="while-collapsed">Show all</span>
          <span class="while-open">Show less</span>
        </span>
      </summary>
      {text}
    </details>
  )
}
