import * as v from 'valibot'
import type { Context } from '../../context.js'
import { clampedInteger, optional } from '../../model/input.js'
import { DAY, HOUR, hourOf } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { CASCADES } from '../../store/bulk-targets.js'
import { moveMark, readMark } from '../../store/marks.js'
import { packedRows } from '../../store/packed-rows.js'
import { giveTurn } from '../sums/turns.js'
import { forgetHours, sweepUntil } from './cascade-hours.js'
import { type StrongPair, strongPairs } from './cascade-pairs.js'
import { CASCADE_WINDOW } from './cascade-sweep.js'

export interface CascadeDetection {
  /** Pairs that were not known as a cascade before. */
  detected: number
  /** Known ones whose figures were brought up to date. */
  updated: number
}

const DEFAULT_LOOKBACK = 24
const KEPT_DAYS = 30
/** So far back the figures reach at least, as far as anything was looked at: a week has weekdays and a weekend. */
const COUNTED_DAYS = 7
const PAIRS_PER_TRANSACTION = 200

/**
 * Detects errors that follow another within a minute, at least three times and at least twice as often as by chance.
 * Reads each occurrence once, when its minute is over, and stores sums per hour: a run costs what is new, however far
 * back it looks. Every run replaces all cascades.
 */
export const detectCascades = defineOperation({
  input: v.object({
    lookback_hours: v.optional(optional(clampedInteger({ min: 1, max: KEPT_DAYS * 24 })), DEFAULT_LOOKBACK),
  }),
  async run(context, { lookback_hours = DEFAULT_LOOKBACK }): Promise<CascadeDetection> {
    const now = context.now()
    const from = hourOf(now - lookback_hours * HOUR)
    const reach = hourOf(now - COUNTED_DAYS * DAY)
    const looked_at_from = await sweepUntil(context, { from, reach, end: now - CASCADE_WINDOW })
    await forgetHours(context, now - KEPT_DAYS * DAY)
    // A short look back must not make little of what is known of the week.
    const since = Math.min(from, Math.max(looked_at_from, reach))
    return store(context, await strongPairs(context, { from: since, to: hourOf(now) + HOUR }), { now, since })
  },
})

const COUNTED_FROM = 'cascades counted from'

/** From when on the figures of all cascades are counted, which the last detection said; null before the first. */
export async function cascadesSince({ database }: Context): Promise<string | null> {
  const row = await database.read
    .selectFrom('faultboard_leases')
    .select('last_run_at')
    .where('name', '=', COUNTED_FROM)
    .executeTakeFirst()
  return row?.last_run_at ? new Date(row.last_run_at).toISOString() : null
}

async function store(
  { database }: Context,
  pairs: readonly StrongPair[],
  { now, since }: { now: number; since: number },
): Promise<CascadeDetection> {
  const { dialect, read } = database
  const known = await packedRows(
    database,
    read.selectFrom('faultboard_cascades').select(['parent_error_id', 'child_error_id']),
    ['parent_error_id', 'child_error_id'],
  )
  const keys = new Set(known.map(({ parent_error_id, child_error_id }) => `${parent_error_id} ${child_error_id}`))
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
    await giveTurn()
  }
  await database.write(async (trx) => {
    await trx.deleteFrom('faultboard_cascades').where('last_detected_at', '<', now).execute()
    await readMark(trx, dialect, COUNTED_FROM, since)
    await moveMark(trx, COUNTED_FROM, since)
  })
  const updated = pairs.filter((pair) => keys.has(`${pair.parent_error_id} ${pair.child_error_id}`)).length
  return { detected: pairs.length - updated, updated }
}
