import { DAY, hourOf, MINUTE } from '../../model/time.js'
import { LATE_HOURS } from '../bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import { CASCADES_AGAIN, CASCADES_UNTIL } from '../marks.js'
import type { Schema } from '../schema.js'
import type { FoldedGroup } from './fold.js'

/** Cascades are looked for when a minute has passed; what is written this late may come after that. */
const LATE = MINUTE / 2
const KEPT = 30 * DAY

/** Notes the hours to which occurrences come late, from the spool for one: cascades are looked for there once more. */
export async function noteLateHours(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  now: number,
): Promise<void> {
  const hours = new Set<number>()
  for (const { kept } of groups) {
    for (const { occurred_at } of kept) {
      if (occurred_at > now - LATE || occurred_at < now - KEPT) continue
      hours.add(hourOf(occurred_at))
      // It may have followed something of the hour before.
      hours.add(hourOf(occurred_at - MINUTE))
    }
  }
  if (hours.size === 0) return
  const swept = await trx
    .selectFrom('faultboard_leases')
    .select('name')
    .where('name', '=', CASCADES_UNTIL)
    .executeTakeFirst()
  if (!swept) return
  // In one order for every process, so that two flushes wait for each other rather than deadlock.
  const rows = [...hours].sort((a, b) => a - b).map((hour) => [`${CASCADES_AGAIN}${hour}`, 1])
  await dialect.insertMany(trx, LATE_HOURS, rows)
}
