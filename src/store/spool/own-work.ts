/**
 * Marks what the tracker itself asks of a database, so that whoever watches the driver can tell it from the host's work.
 * A driver announces a query before `query()` returns, so a mark that lasts as long as the call is enough, and costs
 * the host's awaits nothing.
 */
let depth = 0

export function asOwnWork<T>(work: () => T): T {
  depth++
  try {
    return work()
  } finally {
    depth--
  }
}

export function isOwnWork(): boolean {
  return depth > 0
}
