import type { Rendered } from '../define.js'
import { Marked } from './marked.js'

/**
 * File and line, then the function, for a one-line row. Uses separate elements, because a long function must not hide
 * the file and line.
 */
export function Place({ place, matches = [] }: { place: string; matches?: readonly string[] }): Rendered {
  const end = place.indexOf(' in ')
  const path = end < 0 ? place : place.slice(0, end)
  return (
    <>
      <code class="place-path">
        <bdi>
          <Marked text={path} matches={matches} />
        </bdi>
      </code>
      {end >= 0 && (
        <code class="place-function">
          <Marked text={place.slice(end)} matches={matches} />
        </code>
      )}
    </>
  )
}
