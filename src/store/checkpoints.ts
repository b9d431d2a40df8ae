import { LEASES } from './bulk/bulk-targets.js'
import type { Dialect } from './dialect.js'
import type { Transaction } from './kysely.js'
import type { Schema } from './schema.js'
import { withRowLocks } from './sql/row-locks.js'

/** Reads and locks the progress of a job, stored as a time by name. The lock lets one process at a time continue. */
export async function readCheckpoint(
  trx: Transaction<Schema>,
  dialect: Dialect,
  name: string,
  initial: number,
): Promise<number> {
  await dialect.insertMany(trx, LEASES, [[name, 0, initial]])
  const query = trx.selectFrom('faultboard_leases').select('last_run_at').where('name', '=', name)
  const row = await withRowLocks(query, dialect).executeTakeFirst()
  return row?.last_run_at ?? initial
}

export async function advanceCheckpoint(trx: Transaction<Schema>, name: string, to: number): Promise<void> {
  await trx.updateTable('faultboard_leases').set({ last_run_at: to }).where('name', '=', name).execute()
}

/** Time up to which cascades were detected. */
export const CASCADES_UNTIL = 'cascades swept until'
/** Name prefix, followed by an hour. Counts how often late occurrences were added to that hour. */
export const CASCADES_LATE_HOUR = 'cascades again '
/** Name prefix, followed by an application id. Hour up to which rate limiter events were folded. */
export const GUARD_FOLDED = 'guard folded until '
/** Name prefix, followed by an application id. Newest closed hour that was compared with the baselines. */
export const BASELINES_COMPARED = 'baselines compared until '
