let busy = false

/**
 * Every way into the client goes through here: nothing may be thrown into the page. Within it nothing of ours runs a
 * second time, because what we read may print, fetch or report in turn.
 */
export function quietly<T>(work: () => T): T | undefined {
  if (busy) return undefined
  busy = true
  try {
    return work()
  } catch {
    return undefined
  } finally {
    busy = false
  }
}
