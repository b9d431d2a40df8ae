import type { Pagination as PaginationData } from '../../model/result.js'
import type { Rendered, Visit } from '../define.js'
import { MAX_HEADER_BYTES } from '../http/responses.js'
import { formatCount } from './time.js'

export function Pagination({ pagination, visit }: { pagination: PaginationData; visit: Visit }): Rendered {
  const { page, per_page, total_count } = pagination
  if (total_count === 0) return null
  const first = (page - 1) * per_page + 1
  const last = Math.min(page * per_page, total_count)
  return (
    <nav class="pagination" aria-label="Pages">
      <span>{`${formatCount(first)}–${formatCount(last)} of ${formatTotal(pagination)}`}</span>
      <Pages pagination={pagination} linkTo={(number) => pageLink(visit, number)} labels={['Previous', 'Next']} />
    </nav>
  )
}

/** Current page with links to its neighbors. Empty for a single page. */
export function Pages({
  pagination: { page, total_pages, total_is_lower_bound },
  linkTo,
  labels: [previous, next],
}: {
  pagination: Pick<PaginationData, 'page' | 'total_pages' | 'total_is_lower_bound'>
  /** Returns the link to a page. */
  linkTo: (page: number) => string
  labels: readonly [previous: string, next: string]
}): Rendered {
  if (total_pages <= 1) return null
  return (
    <>
      {page > 1 && (
        <a class="button" rel="prev" href={linkTo(page - 1)}>
          {previous}
        </a>
      )}
      <span>{`Page ${formatCount(page)} of ${formatCount(total_pages, total_is_lower_bound)}`}</span>
      {page < total_pages && (
        <a class="button" rel="next" href={linkTo(page + 1)}>
          {next}
        </a>
      )}
    </>
  )
}

/** Total, with a plus sign if it is a lower bound. */
export function formatTotal({ total_count, total_is_lower_bound }: PaginationData): string {
  return formatCount(total_count, total_is_lower_bound)
}

/** Returns the `Link` header of a list. Null if a long filter makes the header too large for clients. */
export function paginationLinks({ page, total_pages }: PaginationData, visit: Visit): string | null {
  const links = [
    ['first', 1],
    ...(page > 1 ? [['prev', page - 1] as const] : []),
    ...(page < total_pages ? [['next', page + 1] as const] : []),
    ['last', total_pages],
  ] as const
  const header = links.map(([relation, number]) => `<${pageLink(visit, number)}>; rel="${relation}"`).join(', ')
  return header.length > MAX_HEADER_BYTES ? null : header
}

function pageLink({ base, path, query }: Visit, page: number): string {
  const parameters = new URLSearchParams(query)
  parameters.delete('select')
  parameters.set('page', String(page))
  return `${base}${path}?${parameters}`
}
