import { attempt } from './quietly.js'
import type { ClientEvent } from './types.js'

/**
 * Updates the events stored for the next page of this site and returns the previous ones. Keeps events of other tabs,
 * at most 20 in total. Does nothing if storage is unavailable or full.
 */
export function changeKept(endpoint: string, gone: readonly ClientEvent[], come: readonly ClientEvent[] = []) {
  const key = `faultboard ${endpoint}`
  const change = () => {
    const kept: ClientEvent[] = JSON.parse(localStorage[key] || '[]')
    const left = kept
      .filter((one) => gone.every(({ event_id }) => event_id !== one.event_id))
      .concat(come)
      .slice(-20)
    if (left[0]) localStorage[key] = JSON.stringify(left)
    else delete localStorage[key]
    return kept
  }
  return attempt(change) || []
}
