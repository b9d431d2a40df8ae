import type { Context } from '../context.js'
import { MARKER_PATTERN, parseMarkerName } from './origin.js'

/** Bounds each query, because an embedded database blocks the host while it reads. */
const BATCH_SIZE = 500

/** Deletes the import markers of deleted errors, so that these errors can be imported again. */
export async function deleteOrphanedMarkers({ database: { read } }: Context): Promise<void> {
  for (let last = ''; ; ) {
    const markers = await read
      .selectFrom('faultboard_leases')
      .select('name')
      .where('name', 'like', MARKER_PATTERN)
      .where('name', '>', last)
      .orderBy('name')
      .limit(BATCH_SIZE)
      .execute()
    const names = markers.map(({ name }) => name)
    if (names.length === 0) return
    const rows = await read
      .selectFrom('faultboard_errors')
      .select('id')
      .where('id', 'in', [...new Set(names.map((name) => parseMarkerName(name).error_id))])
      .execute()
    const existingIds = new Set(rows.map(({ id }) => id))
    const orphaned = names.filter((name) => !existingIds.has(parseMarkerName(name).error_id))
    if (orphaned.length > 0) await read.deleteFrom('faultboard_leases').where('name', 'in', orphaned).execute()
    last = names.at(-1) ?? last
  }
}
