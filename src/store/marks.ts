import { LEASES } from './bulk-targets.js'
import type { Dialect } from './dialect.js'
import type { Transaction } from './kysely.js'
import { locking } from './lock.js'
import type { Schema } from './schema.js'

/** How far some work has come, as a time kept under a name; read under its lock, so that one process at a time goes on. */
export async function readMark(
  trx: Transaction<Schema>,
  dialect: Dialect,
  name: string,
  initial: number,
): Promise<number> {
  await dialect.insertMany(trx, LEASES, [[name, 0, initial]])
  const query = trx.selectFrom('faultboard_leases').select('last_run_at').where('name', '=', name)
  const row = await locking(query, dialect).executeTakeFirst()
  return row?.last_run_at ?? initial
}

export async function moveMark(trx: Transaction<Schema>, name: string, to: number): Promise<void> {
  await trx.updateTable('faultboard_leases').set({ last_run_at: to }).where('name', '=', name).execute()
}

/** Until when cascades were looked for. */
export const CASCADES_UNTIL = 'cascades swept until'
/** With an hour behind it: occurrences came to that hour late, so often that it counts. */
export const CASCADES_AGAIN = 'cascades again '
/** With an application behind it: until which hour events of rate limiters were folded. */
export const GUARD_FOLDED = 'guard folded until '
/** Followed by an application id: the newest closed hour that was compared with the baselines. */
export const BASELINES_COMPARED = 'baselines compared until '
