import { attempt } from './quietly.js'
import type { ClientEvent } from './types.js'

/**
 * Changes what is kept for the next page of this site, and gives what was: some events go and
 * others come, what other tabs keep stays; at most 20. Where nothing may be kept, or there is no room, nothing is.
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
