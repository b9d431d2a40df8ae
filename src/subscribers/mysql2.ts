import { mysql2Queries } from '../capture/breadcrumbs/mysql2.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

/**
 * Records statements of mysql2 (3.20 or later) as breadcrumbs, using its tracing channels. Opt-in, because a listener
 * on these channels has a side effect: the connection no longer emits `error` for a failed query that has neither a
 * callback nor a listener. Does nothing unless `enable_breadcrumbs` is on. Returns a function that stops recording.
 * @example instrumentMysql2()
 */
export function instrumentMysql2(tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(mysql2Queries)
}
