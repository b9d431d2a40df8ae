import { readOptions } from '../../../../config/options.js'
import { nPlusOneOptions } from '../../../../diagnostics/n-plus-one/options.js'
import { repeatedStatements } from '../../../../model/sql/repeated-breadcrumbs.js'
import type { Rendered } from '../../../define.js'
import { href } from '../../../links/href.js'
import { formatCount } from '../../../ui/time.js'
import { formatMilliseconds } from '../../../ui/units.js'
import type { ErrorProps } from '../actions/error-form.js'

const MAX_SHOWN = 3

/** Warns if the failed request repeated a statement. */
export function RepeatedStatements({ record, visit }: ErrorProps): Rendered {
  const options = readOptions(visit.diagnosticOptions, nPlusOneOptions)
  const found = repeatedStatements(record.breadcrumbs, options.n_plus_one_threshold)
  if (found.length === 0) return null
  return (
    <ul class="repeated" aria-label="Repeated statements">
      {found.slice(0, MAX_SHOWN).map(({ statement, count, duration_ms }) => (
        <li class="callout">
          This request ran <code>{statement}</code> {formatCount(count)} times
          {duration_ms > 0 && ` (${formatMilliseconds(duration_ms)} in total)`}.
        </li>
      ))}
      {options.detect_n_plus_one_queries && (
        <li>
          <a href={href(visit, '/errors/n_plus_one')}>All N+1 queries</a>
        </li>
      )}
    </ul>
  )
}
