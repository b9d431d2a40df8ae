import type { Rendered } from '../define.js'
import { Icon } from './icons.js'

/** Copies the text of the element with this id; without script the button is not shown, and the text can be marked. */
export function CopyButton({ from, label = 'Copy' }: { from: string; label?: string }): Rendered {
  return (
    <button type="button" class="quiet copy" data-copy={from} hidden>
      <Icon name="copy" />
      <span>{label}</span>
    </button>
  )
}
