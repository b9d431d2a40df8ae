let isBusy = false

/** Result of `work`, or undefined if it throws: pages pass values that cannot be read. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/**
 * Wraps every entry point: nothing may throw into the page. Not reentrant, because values of the page can print, fetch
 * or report when they are read.
 */
export function quietly<T>(work: () => T): T | undefined {
  if (isBusy) return undefined
  isBusy = true
  // Does not use `attempt`: at the stack limit, calling it would throw and leave the client marked as busy.
  try {
    return work()
  } catch {
    return undefined
  } finally {
    isBusy = false
  }
}
