import type { RankedError } from '../../../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../../../define.js'
import { ErrorLink } from '../../../ui/error-link.js'

export interface RelatedRow {
  error: RankedError
  evidence: Rendered
}

/** Related errors with the evidence for each relation. */
export function RelatedErrors({ rows, visit }: { rows: readonly RelatedRow[]; visit: Visit }): Rendered {
  return (
    <ul class="related">
      {rows.map(({ error, evidence }) => (
        <li>
          <ErrorLink error={error} visit={visit} />
          <p class="evidence">{evidence}</p>
        </li>
      ))}
    </ul>
  )
}
