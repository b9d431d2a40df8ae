import type { Context } from '../context.js'
import { DAY } from '../model/time.js'
import { LEASES } from '../store/bulk-targets.js'
import { type CleanupResult, cleanupErrors } from './cleanup-errors.js'

const LEASE = 'cleanup'

/** Runs the cleanup unless it ran within a day, here or in another process; gives null when it was not its time. */
export async function cleanupOnceADay(context: Context): Promise<CleanupResult | null> {
  await context.ready()
  return (await isOurs(context)) ? cleanupErrors.run(context, {}) : null
}

/** Of many processes that ask at the same time, the one whose update finds the old date has the day. */
async function isOurs({ database, now }: Context): Promise<boolean> {
  return database.write(async (trx) => {
    const row = await trx.selectFrom('faultboard_leases').select('name').where('name', '=', LEASE).executeTakeFirst()
    if (!row) await database.dialect.insertMany(trx, LEASES, [[LEASE, 0, 0]])
    const taken = await trx
      .updateTable('faultboard_leases')
      .set({ last_run_at: now() })
      .where('name', '=', LEASE)
      .where('last_run_at', '<=', now() - DAY)
      .executeTakeFirst()
    return taken.numUpdatedRows > 0n
  })
}
