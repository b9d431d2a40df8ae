import type { Context } from '../context.js'
import { LEASES } from '../store/bulk-targets.js'

/** Something that is to happen now and then, in one process of many. */
export interface Schedule {
  /** Its name in the database, where all processes look. */
  name: string
  /** What a complaint about it begins with. */
  title: string
  every: number
  run(context: Context): Promise<unknown>
}

/** Runs it unless it ran within its time, here or in another process; gives whether it did. */
export async function runIfDue(context: Context, schedule: Schedule): Promise<boolean> {
  await context.ready()
  if (!(await isOurs(context, schedule))) return false
  await schedule.run(context)
  return true
}

/** Of many processes that ask at the same time, the one whose update finds the old date has the turn. */
async function isOurs({ database, now }: Context, { name, every }: Schedule): Promise<boolean> {
  return database.write(async (trx) => {
    const row = await trx.selectFrom('faultboard_leases').select('name').where('name', '=', name).executeTakeFirst()
    if (!row) await database.dialect.insertMany(trx, LEASES, [[name, 0, 0]])
    const taken = await trx
      .updateTable('faultboard_leases')
      .set({ last_run_at: now() })
      .where('name', '=', name)
      .where('last_run_at', '<=', now() - every)
      .executeTakeFirst()
    return taken.numUpdatedRows > 0n
  })
}
