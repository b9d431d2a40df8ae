import type { Multiple } from '../../analytics/overview.js'
import type { Rendered, Visit } from '../define.js'
import { href } from '../href.js'
import { Sparkline } from './charts.js'
import { formatCount } from './time.js'

/** Many small charts of the same seven days, each a link to its errors. */
export function SmallMultiples({
  title,
  parameter,
  multiples,
  empty,
  visit,
}: {
  title: string
  /** What the list is filtered by. */
  parameter: 'platform' | 'app_version'
  multiples: readonly Multiple[]
  empty: Rendered
  visit: Visit
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
              <a href={href(visit, '/errors', { [parameter]: name, timeframe: 'last_7_days' })}>{name}</a>
              <span class="multiple-total">{formatCount(total)}</span>
              <Sparkline values={daily} label={`${name}, occurrences per day`} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
