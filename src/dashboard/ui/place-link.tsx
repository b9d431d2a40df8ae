import { OTHERS } from '../../model/frequent-names.js'
import type { Rendered, Visit } from '../define.js'
import { openErrorsLink } from '../links/href.js'

/** Links `src/cart.ts:12 in total` to the open errors with that file in the stack trace. */
export function PlaceLink({ place, visit }: { place: string; visit: Visit }): Rendered {
  if (place === '') return null
  const file = place.split(' in ', 1)[0]?.replace(/:\d+$/, '') ?? ''
  if (file === '' || place === OTHERS) return <code>{place}</code>
  return (
    <a href={openErrorsLink(visit, { search: file })} title="Open errors with this file in the stack trace">
      <code>{place}</code>
    </a>
  )
}

/** Name, or a muted text for an empty name and for the combined remainder. */
export function NameOrPlaceholder({ name, emptyLabel }: { name: string; emptyLabel: string }): Rendered {
  if (name === '') return <span class="muted">{emptyLabel}</span>
  if (name === OTHERS) return <span class="muted">Other (combined)</span>
  return <code dir="auto">{name}</code>
}
