import type { LinkParameters, Visit } from '../define.js'

/** Link to a page within the selected application and environment. Omits parameters that are null or undefined. */
export function href(
  { base, application_id, environment }: Visit,
  path: string,
  parameters: LinkParameters = {},
): string {
  return `${base}${pathWith(path, { application_id, environment, ...parameters })}`
}

/** Path with a query, relative to the mount path. */
export function pathWith(path: string, parameters: LinkParameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.set(name, String(value))
  }
  return query.size > 0 ? `${path}?${query}` : path
}

/** Link to the default list: unresolved errors that are not snoozed. */
export function openErrorsLink(visit: Visit, parameters: LinkParameters = {}): string {
  return href(visit, '/errors', { unresolved: true, hide_snoozed: true, ...parameters })
}

/** Link to the current page with changed parameters (null removes a parameter), starting at its first page. */
export function currentPageWith(visit: Visit, changes: LinkParameters): string {
  const query = new URLSearchParams(visit.query)
  query.delete('page')
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined) query.delete(name)
    else query.set(name, String(value))
  }
  return `${visit.base}${visit.path}${query.size > 0 ? `?${query}` : ''}`
}
