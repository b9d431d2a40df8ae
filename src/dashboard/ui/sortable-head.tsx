import type { SORT_FIELDS } from '../../triage/list/errors-list.js'
import type { Rendered } from '../define.js'

export type SortField = (typeof SORT_FIELDS)[number]

export interface SortOrder {
  field: SortField
  direction: 'asc' | 'desc'
  /** Where the same list in another order is. */
  address(field: SortField, direction: 'asc' | 'desc'): string
}

/** The head of a column that sorts by it, and the other way round when it does already. */
export function SortableHead({
  field,
  sort,
  class: className,
  children,
}: {
  field: SortField
  sort: SortOrder | undefined
  class: string
  children?: Rendered
}): Rendered {
  if (!sort) {
    return (
      <th scope="col" class={className}>
        {children}
      </th>
    )
  }
  const current = sort.field === field ? sort.direction : null
  const next = current === null ? firstDirection(field) : current === 'asc' ? 'desc' : 'asc'
  return (
    <th scope="col" class={className} aria-sort={current === null ? undefined : `${current}ending`}>
      <a href={sort.address(field, next)}>{children}</a>
    </th>
  )
}

/** Words begin at A; of times, counts and grades the highest matter most. */
function firstDirection(field: SortField): 'asc' | 'desc' {
  return ['error_type', 'platform', 'status', 'app_version'].includes(field) ? 'asc' : 'desc'
}
