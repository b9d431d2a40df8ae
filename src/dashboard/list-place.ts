import * as v from 'valibot'
import { clampedInteger, filterText, optional } from '../model/input.js'
import { type ErrorsFilter, errorsListInput } from '../triage/list/errors-filter.js'
import { listQuery } from '../triage/saved-views.js'
import type { Visit } from './define.js'
import { href, type LinkParameters } from './href.js'

const LIMIT = 2000

/**
 * The list somebody came from, carried by the address of an error: its filters, and which page of it. There is no
 * referrer to tell it, and a script could only tell it to those who have one.
 */
export const listPlaceInput = {
  list_query: filterText({ max: LIMIT, note: 'the filters of the list to go back to' }),
  list_page: optional(clampedInteger({ min: 1, max: 1_000_000_000 })),
}

export interface ListPlace {
  list_query?: string | undefined
  list_page?: number | undefined
}

/** This list, for the links of its rows. */
export function thisList(visit: Visit, page: number): LinkParameters {
  const list_query = String(new URLSearchParams(filtersOf(String(visit.query))))
  return list_query.length > LIMIT ? {} : { list_query: list_query || null, list_page: page }
}

/** The same list again, from the page of an error; undefined where there is none behind it. */
export function listBehind(visit: Visit, { list_query = '', list_page }: ListPlace): string | undefined {
  if (list_page === undefined) return undefined
  return href(visit, '/errors', { ...filtersOf(list_query), page: list_page > 1 ? list_page : null })
}

/** What the list asked for; null where there is none, or its filters are not ours. */
export function filterBehind({ list_query = '', list_page }: ListPlace): ErrorsFilter | null {
  if (list_page === undefined) return null
  const result = v.safeParse(errorsListInput, filtersOf(list_query))
  return result.success ? result.output : null
}

/** Without the application, which every link carries anyway. */
function filtersOf(query: string): Record<string, string> {
  const { application_id, ...filters } = Object.fromEntries(new URLSearchParams(listQuery(query)))
  return filters
}
