let isBusy = false

/** Returns the result of `work`, or undefined if it throws. Pages can pass unreadable values. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/**
 * Wraps every entry point: nothing may throw into the page. Not reentrant, because reading a value from the page can
 * print, fetch or report.
 */
export function runQuietly<T>(work: () => T): T | undefined {
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
