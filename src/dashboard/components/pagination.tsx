import type { Pagination as PaginationData } from '../../triage/errors-list.js'
import type { Rendered, Visit } from '../define.js'
import { formatCount } from './time.js'

export function Pagination({ pagination, visit }: { pagination: PaginationData; visit: Visit }): Rendered {
  const { page, per_page, total_count, total_pages } = pagination
  if (total_count === 0) return null
  const first = (page - 1) * per_page + 1
  return (
    <nav class="pagination" aria-label="Pages">
      <span>{`${formatCount(first)}–${formatCount(Math.min(page * per_page, total_count))} of ${formatCount(total_count)}`}</span>
      {page > 1 && (
        <a rel="prev" href={pageAddress(visit, page - 1)}>
          Previous
        </a>
      )}
      {page < total_pages && (
        <a rel="next" href={pageAddress(visit, page + 1)}>
          Next
        </a>
      )}
    </nav>
  )
}

/** The `Link` header of a list. */
export function paginationLinks({ page, total_pages }: PaginationData, visit: Visit): string {
  const links = [
    ['first', 1],
    ...(page > 1 ? [['prev', page - 1] as const] : []),
    ...(page < total_pages ? [['next', page + 1] as const] : []),
    ['last', total_pages],
  ] as const
  return links.map(([relation, number]) => `<${pageAddress(visit, number)}>; rel="${relation}"`).join(', ')
}

function pageAddress({ base, path, query }: Visit, page: number): string {
  const parameters = new URLSearchParams(query)
  parameters.set('page', String(page))
  return `${base}${path}?${parameters}`
}
