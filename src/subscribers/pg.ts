import { type PgModule, pgQueries } from '../capture/breadcrumbs/pg.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

export type { PgModule } from '../capture/breadcrumbs/pg.js'

/**
 * Records statements of `pg` as breadcrumbs (text without values, duration, number of rows) by wrapping
 * `Client.prototype.query`. Does nothing unless `enable_breadcrumbs` is on. Returns a function that restores the
 * original method; `Tracker.shutdown()` restores the method too.
 * @example
 * import pg from 'pg'
 * instrumentPg(pg)
 */
export function instrumentPg(pg: PgModule, tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(pgQueries(pg))
}
