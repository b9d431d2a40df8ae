import type { Rendered } from '../define.js'
import { Icon } from './icons.js'

/**
 * Copies the text of the element with this id, or the JSON at an address; without script the button is not shown, and
 * the text can be marked.
 */
export function CopyButton({
  label = 'Copy',
  ...source
}: ({ from: string } | { json: string }) & { label?: string }): Rendered {
  const { from, json } = { from: undefined, json: undefined, ...source }
  return (
    <button type="button" class="quiet copy" data-copy={from} data-copy-json={json} hidden>
      <Icon name="copy" />
      <span>{label}</span>
    </button>
  )
}
