import * as v from 'valibot'
import type { Context } from '../../context.js'
import { nextTurn } from '../../model/event-loop-turns.js'
import { clampedInteger, optional } from '../../model/input/input.js'
import { DAY, HOUR, startOfHour } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { CASCADES } from '../../store/bulk/bulk-targets.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { advanceCheckpoint, readCheckpoint } from '../../store/checkpoints.js'
import { deleteHoursBefore, processHours } from './cascade-hours.js'
import { type StrongPair, strongPairs } from './cascade-pairs.js'
import { CASCADE_WINDOW_MS } from './cascade-sweep.js'

export interface CascadeDetection {
  /** Newly detected cascades. */
  detected: number
  /** Known cascades whose figures were updated. */
  updated: number
}

const DEFAULT_LOOKBACK_HOURS = 24
const RETENTION_DAYS = 30
/** Minimum time that the figures cover, if available. A week includes weekdays and a weekend. */
const MIN_COVERED_DAYS = 7
const PAIRS_PER_TRANSACTION = 200

/**
 * Detects errors that follow another error within a minute, more often than expected by chance. Reads each occurrence
 * once, after its minute has passed, and stores hourly sums. The cost of a run depends on the new occurrences, not on
 * the lookback. Every run replaces all cascades.
 */
export const detectCascades = defineOperation({
  input: v.object({
    lookback_hours: v.optional(optional(clampedInteger({ min: 1, max: RETENTION_DAYS * 24 })), DEFAULT_LOOKBACK_HOURS),
  }),
  async run(context, { lookback_hours = DEFAULT_LOOKBACK_HOURS }): Promise<CascadeDetection> {
    const now = context.now()
    const from = startOfHour(now - lookback_hours * HOUR)
    const coveredFrom = startOfHour(now - MIN_COVERED_DAYS * DAY)
    const processedFrom = await processHours(context, { from, earliest: coveredFrom, end: now - CASCADE_WINDOW_MS })
    await deleteHoursBefore(context, now - RETENTION_DAYS * DAY)
    // A short lookback must not discard the known figures of the week.
    const since = Math.min(from, Math.max(processedFrom, coveredFrom))
    return storeCascades(context, await strongPairs(context, { from: since, to: startOfHour(now) + HOUR }), {
      now,
      since,
    })
  },
})

const CASCADES_COUNTED_FROM = 'cascades counted from'

/** Start of the period that all cascade figures cover. Null before the first detection. */
export async function cascadesCountedSince({ database }: Context): Promise<string | null> {
  const row = await database.read
    .selectFrom('faultboard_leases')
    .select('last_run_at')
    .where('name', '=', CASCADES_COUNTED_FROM)
    .executeTakeFirst()
  return row?.last_run_at ? new Date(row.last_run_at).toISOString() : null
}

async function storeCascades(
  { database }: Context,
  pairs: readonly StrongPair[],
  { now, since }: { now: number; since: number },
): Promise<CascadeDetection> {
  const { dialect, read } = database
  const knownPairs = await packedRows(
    database,
    read.selectFrom('faultboard_cascades').select(['parent_error_id', 'child_error_id']),
    ['parent_error_id', 'child_error_id'],
  )
  const knownKeys = new Set(
    knownPairs.map(({ parent_error_id, child_error_id }) => `${parent_error_id} ${child_error_id}`),
  )
  for (let i = 0; i < pairs.length; i += PAIRS_PER_TRANSACTION) {
    const rows = pairs
      .slice(i, i + PAIRS_PER_TRANSACTION)
      .map(({ parent_error_id, child_error_id, parent_count, followed_count, expected_probability, delay_ms }) => [
        parent_error_id,
        child_error_id,
        parent_count,
        followed_count,
        followed_count / parent_count,
        expected_probability,
        Math.round(delay_ms / followed_count),
        now,
        now,
      ])
    await database.write((trx) => dialect.insertMany(trx, CASCADES, rows))
    await nextTurn()
  }
  await database.write(async (trx) => {
    await trx.deleteFrom('faultboard_cascades').where('last_detected_at', '<', now).execute()
    await readCheckpoint(trx, dialect, CASCADES_COUNTED_FROM, since)
    await advanceCheckpoint(trx, CASCADES_COUNTED_FROM, since)
  })
  const updated = pairs.filter((pair) => knownKeys.has(`${pair.parent_error_id} ${pair.child_error_id}`)).length
  return { detected: pairs.length - updated, updated }
}
