import { type PgModule, pgQueries } from '../capture/breadcrumbs/pg.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

export type { PgModule } from '../capture/breadcrumbs/pg.js'

/**
 * Leaves the statements of `pg` as breadcrumbs (their text without values, how long they took, how many rows they gave),
 * by a wrap around `Client.prototype.query`. It does nothing unless `enable_breadcrumbs` is on. Gives the function that
 * puts everything back; `Tracker.shutdown()` does it, too.
 *
 * @example
 * import pg from 'pg'
 * instrumentPg(pg)
 */
export function instrumentPg(pg: PgModule, tracker: TrackerInstance = Tracker): () => void {
  return tracker.start().attach(pgQueries(pg))
}
