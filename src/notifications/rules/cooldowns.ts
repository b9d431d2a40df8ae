import { COOLDOWNS } from '../../store/bulk/bulk-targets.js'
import type { Dialect } from '../../store/dialect.js'
import type { Kysely, Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'

/** Returns the active cooldowns among `names` with their end times. */
export async function activeCooldowns(
  db: Kysely<Schema>,
  names: readonly string[],
  now: number,
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map()
  const rows = await db
    .selectFrom('faultboard_cooldowns')
    .select(['name', 'until'])
    .where('name', 'in', names)
    .where('until', '>', now)
    .execute()
  return new Map(rows.map(({ name, until }) => [name, until]))
}

/** Starts or extends cooldowns. */
export async function startCooldowns(
  db: Kysely<Schema>,
  dialect: Dialect,
  names: readonly string[],
  until: number,
): Promise<void> {
  if (names.length === 0) return
  // Sorted to avoid deadlocks between processes.
  await dialect.insertMany(
    db,
    COOLDOWNS,
    [...names].sort().map((name) => [name, until]),
  )
}

/** Starts a cooldown unless it is active. Returns true for exactly one of several concurrent callers. */
export async function tryStartCooldown(
  trx: Transaction<Schema>,
  dialect: Dialect,
  { name, now, until }: { name: string; now: number; until: number },
): Promise<boolean> {
  await dialect.insertMany(trx, COOLDOWNS, [[name, 0]])
  const updated = await trx
    .updateTable('faultboard_cooldowns')
    .set({ until })
    .where('name', '=', name)
    .where('until', '<=', now)
    .executeTakeFirst()
  return updated.numUpdatedRows > 0n
}
