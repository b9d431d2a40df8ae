import type { Rendered } from '../define.js'

/** Link to the page with new data, shown by `assets/js/live.js`. */
export function Arrivals({ href }: { href: string }): Rendered {
  return (
    <div class="arrivals" data-arrivals hidden>
      <a class="button primary" href={href}>
        <span data-arrivals-text />
        <span>– Show</span>
      </a>
    </div>
  )
}
