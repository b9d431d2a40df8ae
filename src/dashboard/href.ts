import type { Visit } from './define.js'

export type LinkParameters = Readonly<Record<string, string | number | boolean | null | undefined>>

/** The address of a page, in the application that is looked at; what is null or undefined is left out. */
export function href(visit: Visit, path: string, parameters: LinkParameters = {}): string {
  return `${visit.base}${pathWith(path, { application_id: visit.application_id, ...parameters })}`
}

/** The same below the mount, for actions, which are told the application by their form. */
export function pathWith(path: string, parameters: LinkParameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.set(name, String(value))
  }
  return query.size > 0 ? `${path}?${query}` : path
}

/** The list as the dashboard's own links show it: what is open and awake. */
export function openErrors(visit: Visit, parameters: LinkParameters = {}): string {
  return href(visit, '/errors', { unresolved: true, hide_snoozed: true, ...parameters })
}

/** This page again with some parameters changed (null takes one away), from its first page on. */
export function sameWith(visit: Visit, changes: LinkParameters): string {
  const query = new URLSearchParams(visit.query)
  query.delete('page')
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined) query.delete(name)
    else query.set(name, String(value))
  }
  return `${visit.base}${visit.path}${query.size > 0 ? `?${query}` : ''}`
}
