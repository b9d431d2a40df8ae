import { COOLDOWNS } from '../../store/bulk-targets.js'
import type { Dialect } from '../../store/dialect.js'
import type { Kysely, Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'

/** Which of these names are in their cooldown, and until when. */
export async function runningCooldowns(
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

/** Begins cooldowns, or makes them longer. */
export async function beginCooldowns(
  db: Kysely<Schema>,
  dialect: Dialect,
  names: readonly string[],
  until: number,
): Promise<void> {
  if (names.length === 0) return
  // In one order, so that two processes do not wait for each other.
  await dialect.insertMany(
    db,
    COOLDOWNS,
    [...names].sort().map((name) => [name, until]),
  )
}

/** Begins a cooldown unless it is running: of many that ask at the same time, one gets true. */
export async function tryCooldown(
  trx: Transaction<Schema>,
  dialect: Dialect,
  { name, now, until }: { name: string; now: number; until: number },
): Promise<boolean> {
  await dialect.insertMany(trx, COOLDOWNS, [[name, 0]])
  const taken = await trx
    .updateTable('faultboard_cooldowns')
    .set({ until })
    .where('name', '=', name)
    .where('until', '<=', now)
    .executeTakeFirst()
  return taken.numUpdatedRows > 0n
}
