import { parseInput } from '../../model/input/input.js'
import { type ErrorsFilter, errorsListInput } from '../../triage/list/errors-list.js'
import type { LinkParameters, Visit } from '../define.js'
import { href } from './href.js'

/** Link to the list with changed filters (null removes a filter), starting at its first page. */
export function listLink(visit: Visit, filter: ErrorsFilter, changes: LinkParameters = {}): string {
  return href(visit, '/errors', { ...activeFilters(filter), ...changes })
}

/** Filters that differ from their defaults. */
export function activeFilters(filter: ErrorsFilter): LinkParameters {
  const entries = Object.entries(filter).filter(
    ([name, value]) => name !== 'page' && value !== false && value !== DEFAULT_FILTER[name as keyof ErrorsFilter],
  )
  return Object.fromEntries(entries)
}

const DEFAULT_FILTER = parseInput(errorsListInput, {})
