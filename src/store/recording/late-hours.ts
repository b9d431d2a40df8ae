import { DAY, MINUTE, startOfHour } from '../../model/time.js'
import { LATE_HOURS } from '../bulk/bulk-targets.js'
import { CASCADES_LATE_HOUR, CASCADES_UNTIL } from '../checkpoints.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import type { FoldedGroup } from './folded-group.js'

/** The cascade job runs one minute behind. Occurrences written later than this may miss it. */
const LATE_AFTER_MS = MINUTE / 2
const MAX_AGE_MS = 30 * DAY

/** Marks the hours of late occurrences, such as those from the spool, so that the cascade job processes them again. */
export async function markLateHours(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  now: number,
): Promise<void> {
  const hours = new Set<number>()
  for (const { kept } of groups) {
    for (const { occurred_at } of kept) {
      if (occurred_at > now - LATE_AFTER_MS || occurred_at < now - MAX_AGE_MS) continue
      hours.add(startOfHour(occurred_at))
      // The parent in a cascade may have occurred in the previous hour.
      hours.add(startOfHour(occurred_at - MINUTE))
    }
  }
  if (hours.size === 0) return
  const swept = await trx
    .selectFrom('faultboard_leases')
    .select('name')
    .where('name', '=', CASCADES_UNTIL)
    .executeTakeFirst()
  if (!swept) return
  // Sorted, so that concurrent flushes cannot deadlock.
  const rows = [...hours].sort((a, b) => a - b).map((hour) => [`${CASCADES_LATE_HOUR}${hour}`, 1])
  await dialect.insertMany(trx, LATE_HOURS, rows)
}
