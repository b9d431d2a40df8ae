/**
 * Marks queries of the tracker, so that driver instrumentation can skip them. Drivers publish a query before `query()`
 * returns, so a synchronous depth counter is enough. Unlike async context, it does not slow down the host.
 */
let ownQueryDepth = 0

export function runOwnQuery<T>(query: () => T): T {
  ownQueryDepth++
  try {
    return query()
  } finally {
    ownQueryDepth--
  }
}

export function isOwnQuery(): boolean {
  return ownQueryDepth > 0
}
