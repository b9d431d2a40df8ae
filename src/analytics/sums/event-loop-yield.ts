import { nextTurn } from '../../model/event-loop-turns.js'

const MAX_BLOCKING_MS = 6

/**
 * Returns a function that long-running work calls often. It yields to the event loop after a few milliseconds.
 *
 * @example
 * const yieldIfDue = periodicYield()
 * for (const row of rows) {
 *   await yieldIfDue()
 *   compute(row)
 * }
 */
export function periodicYield(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < MAX_BLOCKING_MS) return
    await nextTurn()
    since = performance.now()
  }
}
