import type { TrendSeries } from '../../../analytics/overview/overview.js'
import type { Rendered } from '../../define.js'
import { Sparkline } from '../../ui/charts/charts.js'
import { formatCount } from '../../ui/time.js'

/** Small charts of the last seven days, each linked to its errors. */
export function SmallMultiples({
  title,
  linkFor,
  multiples,
  empty,
}: {
  title: string
  /** Link for a name. */
  linkFor(name: string): string
  multiples: readonly TrendSeries[]
  empty: Rendered
}): Rendered {
  return (
    <section class="card">
      <h2>{title}</h2>
      <p class="meta muted">Daily occurrences, last 7 days</p>
      {multiples.length === 0 ? (
        <p class="muted multiples-empty">{empty}</p>
      ) : (
        <ul class="multiples">
          {multiples.map(({ name, total, daily }) => (
            <li>
              <a href={linkFor(name)}>{name}</a>
              <span class="muted">{formatCount(total)}</span>
              <Sparkline values={daily} label={`${name}, occurrences per day`} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
