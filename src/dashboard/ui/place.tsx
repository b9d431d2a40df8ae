import type { Rendered } from '../define.js'

/**
 * File and line, then the function, for a one-line row. Uses separate elements, because a long function must not hide
 * the file and line.
 */
export function Place({ place }: { place: string }): Rendered {
  const end = place.indexOf(' in ')
  const path = end < 0 ? place : place.slice(0, end)
  return (
    <>
      <code class="place-path">
        <bdi>{path}</bdi>
      </code>
      {end >= 0 && <code class="place-function">{place.slice(end)}</code>}
    </>
  )
}
