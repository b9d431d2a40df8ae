import { OTHERS } from '../../model/others.js'
import type { Rendered, Visit } from '../define.js'
import { openErrors } from '../href.js'

/** `src/cart.ts:12 in total` as a link to the open errors whose backtrace goes through that file. */
export function PlaceLink({ place, visit }: { place: string; visit: Visit }): Rendered {
  if (place === '') return null
  const file = place.split(' in ', 1)[0]?.replace(/:\d+$/, '') ?? ''
  if (file === '' || place === OTHERS) return <code>{place}</code>
  return (
    <a href={openErrors(visit, { search: file })} title="Open errors that go through this file">
      <code>{place}</code>
    </a>
  )
}

/** A name, or what stands for very many of them. */
export function Named({ name, nothing }: { name: string; nothing: string }): Rendered {
  if (name === '') return <span class="muted">{nothing}</span>
  if (name === OTHERS) return <span class="muted">all others together</span>
  return <code dir="auto">{name}</code>
}
