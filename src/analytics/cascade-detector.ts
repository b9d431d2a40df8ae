import * as v from 'valibot'
import type { Context } from '../context.js'
import { clampedInteger, optional } from '../model/input.js'
import { DAY, HOUR, hourOf } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { CASCADE_HOURS, CASCADE_PARENTS, CASCADES } from '../store/bulk-targets.js'
import type { Kysely, Transaction } from '../store/kysely.js'
import { moveMark, readMark } from '../store/marks.js'
import type { Schema } from '../store/schema.js'
import { CASCADE_WINDOW, type Sighting, sweep } from './cascade-sweep.js'

export interface CascadeDetection {
  /** Pairs that were not known as a cascade before. */
  detected: number
  /** Known ones whose figures were brought up to date. */
  updated: number
}

/** How often a child must have followed. */
const LEAST = 3
const DEFAULT_LOOKBACK = 24
const KEPT_DAYS = 30
/** What one slice of an hour reads at most, and how many pairs it adds. */
const MOST_ROWS = 20_000
const MOST_PAIRS = 1000

/**
 * Finds errors that others follow: within a minute, at least three times. Every occurrence is looked at once, when its
 * minute is over; what was found is added up by the hour, so that a run costs what is new, however far back it looks.
 */
export const detectCascades = defineOperation({
  input: v.object({
    lookback_hours: v.optional(optional(clampedInteger({ min: 1, max: KEPT_DAYS * 24 })), DEFAULT_LOOKBACK),
  }),
  async run(context, { lookback_hours = DEFAULT_LOOKBACK }): Promise<CascadeDetection> {
    const now = context.now()
    const from = hourOf(now - lookback_hours * HOUR)
    await sweepUntil(context, from, now - CASCADE_WINDOW)
    await forget(context.database.read, now - KEPT_DAYS * DAY)
    return store(context, await strongPairs(context, from), now)
  },
})

const UNTIL = 'cascades swept until'
const FROM = 'cascades swept from'

/** Looks at what was not looked at yet, an hour at a time; a slice and its marks are one transaction. */
async function sweepUntil({ database }: Context, from: number, end: number): Promise<void> {
  const { dialect } = database
  const forward = () =>
    database.write(async (trx) => {
      const until = await readMark(trx, dialect, UNTIL, from)
      await readMark(trx, dialect, FROM, until)
      const start = Math.max(until, from)
      if (start >= end) return false
      // What lies before a gap cannot be told from the gap any more: should anyone ask, it is looked at again.
      if (start > until) {
        await forget(trx, start)
        await moveMark(trx, FROM, start)
      }
      await sweepSlice(trx, dialect, start, Math.min(end, hourOf(start) + HOUR))
      await moveMark(trx, UNTIL, Math.min(end, hourOf(start) + HOUR))
      return true
    })
  const backward = () =>
    database.write(async (trx) => {
      const sweptFrom = await readMark(trx, dialect, FROM, from)
      if (sweptFrom <= from) return false
      const start = Math.max(from, hourOf(sweptFrom - 1))
      await sweepSlice(trx, dialect, start, sweptFrom)
      await moveMark(trx, FROM, start)
      return true
    })
  while (await forward());
  while (await backward());
}

async function sweepSlice(
  trx: Transaction<Schema>,
  dialect: Context['database']['dialect'],
  from: number,
  to: number,
): Promise<void> {
  const rows: Sighting[] = await trx
    .selectFrom('faultboard_occurrences')
    .select(['error_id', 'occurred_at'])
    .where('occurred_at', '>=', from)
    .where('occurred_at', '<=', to + CASCADE_WINDOW)
    .orderBy('occurred_at')
    .orderBy('id')
    .limit(MOST_ROWS)
    .execute()
  const { parents, pairs } = sweep(rows, from, to)
  const hour = hourOf(from)
  const strongest = pairs
    .sort((a, b) => b.followed_count - a.followed_count || a.parent - b.parent || a.child - b.child)
    .slice(0, MOST_PAIRS)
    .sort((a, b) => a.parent - b.parent || a.child - b.child)
  const counts = [...parents].sort(([a], [b]) => a - b)
  if (counts.length > 0)
    await dialect.insertMany(
      trx,
      CASCADE_PARENTS,
      counts.map(([id, count]) => [hour, id, count]),
    )
  if (strongest.length > 0) {
    await dialect.insertMany(
      trx,
      CASCADE_HOURS,
      strongest.map(({ parent, child, followed_count, delay_ms }) => [hour, parent, child, followed_count, delay_ms]),
    )
  }
}

async function forget(db: Kysely<Schema>, before: number): Promise<void> {
  await db.deleteFrom('faultboard_cascade_hours').where('hour', '<', before).execute()
  await db.deleteFrom('faultboard_cascade_parents').where('hour', '<', before).execute()
}

interface StrongPair {
  parent_error_id: number
  child_error_id: number
  parent_count: number
  followed_count: number
  delay_ms: number
}

async function strongPairs({ database }: Context, from: number): Promise<StrongPair[]> {
  const pairs = await database.read
    .selectFrom('faultboard_cascade_hours as h')
    .innerJoin('faultboard_errors as p', 'p.id', 'h.parent_error_id')
    .innerJoin('faultboard_errors as c', 'c.id', 'h.child_error_id')
    .select(({ fn }) => [
      'h.parent_error_id',
      'h.child_error_id',
      fn.sum<number>('h.followed_count').as('followed_count'),
      fn.sum<number>('h.delay_ms').as('delay_ms'),
    ])
    .where('h.hour', '>=', from)
    .groupBy(['h.parent_error_id', 'h.child_error_id'])
    .having(({ fn }) => fn.sum('h.followed_count'), '>=', LEAST)
    .orderBy('followed_count', 'desc')
    .limit(MOST_PAIRS)
    .execute()
  if (pairs.length === 0) return []
  const parents = await database.read
    .selectFrom('faultboard_cascade_parents')
    .select(({ fn }) => ['error_id', fn.sum<number>('count').as('count')])
    .where('hour', '>=', from)
    .where('error_id', 'in', [...new Set(pairs.map(({ parent_error_id }) => parent_error_id))])
    .groupBy('error_id')
    .execute()
  const counts = new Map(parents.map(({ error_id, count }) => [error_id, count]))
  return pairs.map((pair) => ({ ...pair, parent_count: counts.get(pair.parent_error_id) ?? pair.followed_count }))
}

async function store({ database }: Context, pairs: readonly StrongPair[], now: number): Promise<CascadeDetection> {
  if (pairs.length === 0) return { detected: 0, updated: 0 }
  return database.write(async (trx) => {
    const known = await trx
      .selectFrom('faultboard_cascades')
      .select(['parent_error_id', 'child_error_id'])
      .where('parent_error_id', 'in', [...new Set(pairs.map(({ parent_error_id }) => parent_error_id))])
      .execute()
    const keys = new Set(known.map(({ parent_error_id, child_error_id }) => `${parent_error_id} ${child_error_id}`))
    const inOrder = [...pairs].sort(
      (a, b) => a.parent_error_id - b.parent_error_id || a.child_error_id - b.child_error_id,
    )
    await database.dialect.insertMany(
      trx,
      CASCADES,
      inOrder.map(({ parent_error_id, child_error_id, parent_count, followed_count, delay_ms }) => [
        parent_error_id,
        child_error_id,
        parent_count,
        followed_count,
        followed_count / parent_count,
        Math.round(delay_ms / followed_count),
        now,
        now,
      ]),
    )
    const updated = inOrder.filter((pair) => keys.has(`${pair.parent_error_id} ${pair.child_error_id}`)).length
    return { detected: pairs.length - updated, updated }
  })
}
