import { parseInput } from '../model/input.js'
import { type ErrorsFilter, errorsListInput } from '../triage/list/errors-list.js'
import type { Visit } from './define.js'
import { href, type LinkParameters } from './href.js'

/** The list with these filters and some of them changed (null takes one away), from its first page on. */
export function listAddress(visit: Visit, filter: ErrorsFilter, changes: LinkParameters = {}): string {
  return href(visit, '/errors', { ...settings(filter), ...changes })
}

/** What of a filter differs from a list that nobody asked anything of. */
export function settings(filter: ErrorsFilter): LinkParameters {
  const entries = Object.entries(filter).filter(
    ([name, value]) => name !== 'page' && value !== false && value !== UNASKED[name as keyof ErrorsFilter],
  )
  return Object.fromEntries(entries)
}

const UNASKED = parseInput(errorsListInput, {})
