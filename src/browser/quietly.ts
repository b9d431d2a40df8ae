let busy = false

/** What `work` gives, or nothing where it throws: pages hand over values that cannot be read. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/**
 * Every way into the client goes through here: nothing may be thrown into the page. Within it nothing of ours runs a
 * second time, because what we read may print, fetch or report in turn.
 */
export function quietly<T>(work: () => T): T | undefined {
  if (busy) return undefined
  busy = true
  // Not by `attempt`: where the page has used up the stack, calling that throws, and we would be busy for ever.
  try {
    return work()
  } catch {
    return undefined
  } finally {
    busy = false
  }
}
