import { mysql2Queries } from '../capture/breadcrumbs/mysql2.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

/**
 * Records statements of mysql2 (3.20 or later) as breadcrumbs, using its tracing channels. Opt-in: with a listener on
 * them, the error of a query without a callback or listener no longer becomes an `error` event of its connection. Does
 * nothing unless `enable_breadcrumbs` is on. Returns a function that stops it.
 * @example instrumentMysql2()
 */
export function instrumentMysql2(tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(mysql2Queries)
}
