import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'

const PATIENCE_MS = 7 * DAY
/** An embedded database holds the host's thread while it writes. */
const AT_ONCE = 200

/** Gives up the messages of applications that have had no process for days: nobody else may send them. */
export async function failUnclaimed(context: Context): Promise<void> {
  const { database, now } = context
  for (;;) {
    const rows = await unclaimed(context)
    for (const application of new Set(rows.map(({ application_name }) => application_name))) {
      const ids = rows.filter(({ application_name }) => application_name === application).map(({ id }) => id)
      await database.read
        .updateTable('faultboard_deliveries')
        .set({
          ...{ state: 'failed', finished_at: now(), locked_until: null },
          last_answer: `Not sent: no process of ${application} came to send it.`,
        })
        .where('id', 'in', ids)
        .where('state', 'in', ['pending', 'sending'])
        .where('run_at', '<', now() - PATIENCE_MS)
        .execute()
    }
    if (rows.length < AT_ONCE) return
  }
}

async function unclaimed({ database, config, now }: Context) {
  return database.read
    .selectFrom('faultboard_deliveries as d')
    .innerJoin('faultboard_applications as a', 'a.id', 'd.application_id')
    .select(['d.id', 'a.name as application_name'])
    .where('d.state', 'in', ['pending', 'sending'])
    .where('d.run_at', '<', now() - PATIENCE_MS)
    .where('a.name', '!=', config.application_name)
    .limit(AT_ONCE)
    .execute()
}
