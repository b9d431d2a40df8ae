import type { Multiple } from '../../analytics/overview/overview.js'
import type { Rendered } from '../define.js'
import { Sparkline } from './charts.js'
import { formatCount } from './time.js'

/** Many small charts of the same seven days, each a link to what is behind it. */
export function SmallMultiples({
  title,
  address,
  multiples,
  empty,
}: {
  title: string
  /** Where a name leads. */
  address(name: string): string
  multiples: readonly Multiple[]
  empty: Rendered
}): Rendered {
  return (
    <section class="card">
      <h2>{title}</h2>
      <p class="meta muted">Occurrences on each of the last 7 days</p>
      {multiples.length === 0 ? (
        <p class="muted multiples-empty">{empty}</p>
      ) : (
        <ul class="multiples">
          {multiples.map(({ name, total, daily }) => (
            <li>
              <a href={address(name)}>{name}</a>
              <span class="multiple-total">{formatCount(total)}</span>
              <Sparkline values={daily} label={`${name}, occurrences per day`} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
