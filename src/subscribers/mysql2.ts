import { mysql2Queries } from '../capture/breadcrumbs/mysql2.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

/**
 * Leaves the statements of mysql2 (3.20 or later) as breadcrumbs, by its tracing channels. Not on by itself: once anybody
 * listens to them, the error of a query that has neither a callback nor a listener no longer becomes an `error` event of
 * its connection. It does nothing unless `enable_breadcrumbs` is on. Gives the function that ends it.
 *
 * @example
 * instrumentMysql2()
 */
export function instrumentMysql2(tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(mysql2Queries)
}
