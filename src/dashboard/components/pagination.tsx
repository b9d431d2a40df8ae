import type { Pagination as PaginationData } from '../../triage/errors-list.js'
import type { Rendered, Visit } from '../define.js'
import { formatCount } from './time.js'

export function Pagination({ pagination, visit }: { pagination: PaginationData; visit: Visit }): Rendered {
  const { page, per_page, total_count, total_pages } = pagination
  if (total_count === 0) return null
  const first = (page - 1) * per_page + 1
  const last = Math.min(page * per_page, total_count)
  return (
    <nav class="pagination" aria-label="Pages">
      <span>{`${formatCount(first)}–${formatCount(last)} of ${totalOf(pagination)}`}</span>
      {total_pages > 1 && (
        <>
          <Step visit={visit} to={page > 1 ? page - 1 : null} relation="prev">
            Previous
          </Step>
          <span>{`Page ${formatCount(page)} of ${formatCount(total_pages)}${pagination.total_is_bound ? '+' : ''}`}</span>
          <Step visit={visit} to={page < total_pages ? page + 1 : null} relation="next">
            Next
          </Step>
        </>
      )}
    </nav>
  )
}

/** How many fit, as far as they were counted. */
export function totalOf({ total_count, total_is_bound }: PaginationData): string {
  return `${formatCount(total_count)}${total_is_bound ? '+' : ''}`
}

function Step({
  visit,
  to,
  relation,
  children,
}: {
  visit: Visit
  to: number | null
  relation: 'prev' | 'next'
  children?: Rendered
}) {
  if (to === null) return null
  return (
    <a class="button" rel={relation} href={pageAddress(visit, to)}>
      {children}
    </a>
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
  parameters.delete('choose')
  parameters.set('page', String(page))
  return `${base}${path}?${parameters}`
}
