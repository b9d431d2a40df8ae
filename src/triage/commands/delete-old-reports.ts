import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'

/** Clients retry an unanswered report within hours, or when the application is opened again. */
const RETENTION_DAYS = 3
/** Deleting blocks the host's event loop on SQLite, so batches are small. */
const ROWS_PER_DELETE = 500

/** Deletes the digests used to detect duplicate reports, once no retry can arrive. */
export async function deleteOldReports({ database, now }: Context): Promise<void> {
  const cutoff = now() - RETENTION_DAYS * DAY
  for (;;) {
    const oldReports = await database.read
      .selectFrom('faultboard_reported_events')
      .select(['application_id', 'event_digest'])
      .where('created_at', '<', cutoff)
      .limit(ROWS_PER_DELETE)
      .execute()
    if (oldReports.length === 0) return
    await database.write((trx) =>
      trx
        .deleteFrom('faultboard_reported_events')
        .where('application_id', 'in', [...new Set(oldReports.map(({ application_id }) => application_id))])
        .where(
          'event_digest',
          'in',
          oldReports.map(({ event_digest }) => event_digest),
        )
        .where('created_at', '<', cutoff)
        .execute(),
    )
  }
}
