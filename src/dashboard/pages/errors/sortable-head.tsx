import type { SORT_FIELDS } from '../../../triage/list/errors-list.js'
import type { Rendered } from '../../define.js'

export type SortField = (typeof SORT_FIELDS)[number]

export interface SortOrder {
  field: SortField
  direction: 'asc' | 'desc'
  /** Link to the list in another order. */
  linkFor(field: SortField, direction: 'asc' | 'desc'): string
}

/** Column header that sorts by its column, or reverses the order if already sorted. */
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
      <a href={sort.linkFor(field, next)}>{children}</a>
    </th>
  )
}

/** Sorts text from A, and times, counts and grades from the highest value. */
function firstDirection(field: SortField): 'asc' | 'desc' {
  return ['error_type', 'platform', 'status', 'app_version'].includes(field) ? 'asc' : 'desc'
}
