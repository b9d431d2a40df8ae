import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'

/** A client that got no answer tries again within hours; one that was closed meanwhile, when it is opened again. */
const KEPT_DAYS = 3
/** An embedded SQLite holds the host's thread while it deletes. */
const AT_ONCE = 500

/** Removes what tells events that are sent again, once nobody will send them any more. */
export async function forgetReportedEvents({ database, now }: Context): Promise<void> {
  const limit = now() - KEPT_DAYS * DAY
  for (;;) {
    const old = await database.read
      .selectFrom('faultboard_reported_events')
      .select(['application_id', 'event_digest'])
      .where('created_at', '<', limit)
      .limit(AT_ONCE)
      .execute()
    if (old.length === 0) return
    await database.write((trx) =>
      trx
        .deleteFrom('faultboard_reported_events')
        .where('application_id', 'in', [...new Set(old.map(({ application_id }) => application_id))])
        .where(
          'event_digest',
          'in',
          old.map(({ event_digest }) => event_digest),
        )
        .where('created_at', '<', limit)
        .execute(),
    )
  }
}
