import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'

const KEPT_DAYS = 30
/** An embedded database holds the host's thread while it deletes. */
const AT_ONCE = 200

/**
 * Removes old messages and cooldowns that are over. What an incident was opened by stays until its error is resolved:
 * without it nobody would know that the incident has to be closed.
 */
export async function forgetDeliveries(context: Context): Promise<void> {
  const { database, now } = context
  for (;;) {
    const ids = (await outdated(context)).map(({ id }) => id)
    if (ids.length === 0) break
    await database.read.deleteFrom('faultboard_deliveries').where('id', 'in', ids).execute()
  }
  await database.read
    .deleteFrom('faultboard_cooldowns')
    .where('until', '<', now() - DAY)
    .execute()
}

async function outdated({ database, now }: Context) {
  return database.read
    .selectFrom('faultboard_deliveries as d')
    .leftJoin('faultboard_errors as e', 'e.id', 'd.error_id')
    .select('d.id')
    .where('d.created_at', '<', now() - KEPT_DAYS * DAY)
    .where(({ eb, or }) =>
      or([eb('d.channel', '!=', 'incident'), eb('e.resolved', 'is', null), eb('e.resolved', '=', 1)]),
    )
    .limit(AT_ONCE)
    .execute()
}
