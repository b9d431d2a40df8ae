import type { Context } from '../context.js'
import { storeDashboardPath } from '../notifications/content/dashboard-path.js'

/**
 * Stores the public path of the dashboard for links in notifications. Only browser requests contain the mount path and
 * the prefix of a proxy. Writes once per change, after the response.
 */
export function createMountPathRecorder(context: Context): (base: string) => void {
  let storedBase: string | null = null
  const retryLater = () => {
    storedBase = null
  }
  return (base) => {
    if (base === storedBase) return
    storedBase = base
    setImmediate(() => {
      // Never fails the page. The next request retries.
      storeDashboardPath(context, base).then((isStored) => isStored || retryLater(), retryLater)
    })
  }
}
