import * as v from 'valibot'
import { clampedInteger, filterText, optional } from '../../model/input/input.js'
import { type ErrorsFilter, errorsListInput } from '../../triage/list/errors-filter.js'
import { listQuery } from '../../triage/saved-views.js'
import type { LinkParameters, Visit } from '../define.js'
import { href } from './href.js'

/** Keeps links well below the length limits of browsers and proxies. */
const MAX_QUERY_LENGTH = 2000

/**
 * Filters and page of the list that led to an error, passed as link parameters. The Referrer-Policy removes the
 * referrer, and the link back must work without JavaScript.
 */
export const listOriginInput = {
  list_query: filterText({ max: MAX_QUERY_LENGTH, note: 'the filters of the list to return to' }),
  list_page: optional(clampedInteger({ min: 1, max: 1_000_000_000 })),
}

export interface ListOrigin {
  list_query?: string | undefined
  list_page?: number | undefined
}

/** Describes the current list for the links of its rows. */
export function currentListOrigin(visit: Visit, page: number): LinkParameters {
  const list_query = String(new URLSearchParams(parseFilters(String(visit.query))))
  return list_query.length > MAX_QUERY_LENGTH ? {} : { list_query: list_query || null, list_page: page }
}

/** Link back to the list. Undefined if the visitor did not come from a list. */
export function backToListLink(visit: Visit, { list_query = '', list_page }: ListOrigin): string | undefined {
  if (list_page === undefined) return undefined
  return href(visit, '/errors', { ...parseFilters(list_query), page: list_page > 1 ? list_page : null })
}

/** Filter of the list. Null without a list or with invalid filters. */
export function originFilter({ list_query = '', list_page }: ListOrigin): ErrorsFilter | null {
  if (list_page === undefined) return null
  try {
    const result = v.safeParse(errorsListInput, parseFilters(list_query))
    return result.success ? result.output : null
  } catch {
    // A malformed query throws. The error page then has no neighbors.
    return null
  }
}

/** Filters without the application and environment, which every link already contains. */
function parseFilters(query: string): Record<string, string> {
  const { application_id, environment, ...filters } = Object.fromEntries(new URLSearchParams(listQuery(query)))
  return filters
}
