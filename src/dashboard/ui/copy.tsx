import type { Rendered } from '../define.js'
import { Icon } from './icons.js'

/** Copies the text of the element with this id, or the JSON at a URL. CSS hides the button without JavaScript. */
export function CopyButton({
  label = 'Copy',
  shortcut,
  ...source
}: ({ from: string } | { json: string }) & { label?: string | undefined; shortcut?: string }): Rendered {
  const { from, json } = { from: undefined, json: undefined, ...source }
  return (
    <button type="button" class="quiet copy" data-copy={from} data-copy-json={json} data-key={shortcut}>
      <Icon name="copy" />
      <span>{label}</span>
    </button>
  )
}
