import type { Context } from '../../context.js'
import { HOUR } from '../../model/time.js'
import { type Kysely, sql } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { activeCooldowns, startCooldowns } from '../rules/cooldowns.js'

/** Identifies a receiver: the deliveries of one application on one channel. */
export interface Receiver {
  channel: string
  application_id: number | null
}

/** Writing blocks the host's event loop on SQLite, so batches are small. */
const ROWS_PER_UPDATE = 200
/** Slower than the requested rate, so that the backlog can absorb further rate limits. */
const SLOWDOWN_FACTOR = 1.5
/** Deliveries blocked by a pause are spread over this multiple of its length. */
const SPREAD_FACTOR = 4
const MAX_SPREAD_MS = HOUR

/** Finds the rate-limit pauses of receivers, which all processes share. Returns their end by receiver. */
export async function findPauses(
  db: Kysely<Schema>,
  receivers: readonly Receiver[],
  now: number,
): Promise<(receiver: Receiver) => number | null> {
  const untilByName = await activeCooldowns(db, [...new Set(receivers.map(pauseName))], now)
  return (receiver) => untilByName.get(pauseName(receiver)) ?? null
}

/** Picks a random time after the pause, so that blocked deliveries do not all resume at once. */
export function resumeTime({ now, random }: Context, until: number): number {
  return Math.round(until + Math.min(MAX_SPREAD_MS, random() * SPREAD_FACTOR * (until - now())))
}

/**
 * Pauses a receiver. Returns true for the first rate-limited attempt only, so that one process reschedules the backlog.
 */
export async function startPause({ database, now }: Context, receiver: Receiver, until: number): Promise<boolean> {
  const pausedUntil = await findPauses(database.read, [receiver], now())
  const isFirst = pausedUntil(receiver) === null
  await startCooldowns(database.read, database.dialect, [pauseName(receiver)], until)
  return isFirst
}

/**
 * Spreads the backlog of a paused receiver over time. Sent all at once, thousands of deliveries would be rate-limited
 * again.
 */
export async function spreadBacklog(context: Context, receiver: Receiver, until: number): Promise<void> {
  const step = Math.max(1, until - context.now()) * SLOWDOWN_FACTOR
  let rescheduled = 0
  for (;;) {
    const ids = await backlogBefore(context, receiver, until)
    if (ids.length === 0) return
    await reschedule(context, ids, (i) => Math.ceil(until + Math.min(MAX_SPREAD_MS, step * (rescheduled + i + 1))))
    rescheduled += ids.length
  }
}

function pauseName({ channel, application_id }: Receiver): string {
  return `channel:${application_id ?? 0}:${channel}`
}

async function backlogBefore(
  { database }: Context,
  { channel, application_id }: Receiver,
  until: number,
): Promise<number[]> {
  const rows = await database.read
    .selectFrom('faultboard_deliveries')
    .select('id')
    .where('state', '=', 'pending')
    .where('channel', '=', channel)
    .where('application_id', application_id === null ? 'is' : '=', application_id)
    .where('run_at', '<', until)
    .orderBy('id')
    .limit(ROWS_PER_UPDATE)
    .execute()
  return rows.map(({ id }) => id)
}

async function reschedule({ database }: Context, ids: readonly number[], runAt: (i: number) => number): Promise<void> {
  const cases = ids.map((id, i) => sql`when ${id} then ${runAt(i)}`)
  await database.write((trx) =>
    trx
      .updateTable('faultboard_deliveries')
      .set({ run_at: sql<number>`case id ${sql.join(cases, sql` `)} else run_at end` })
      .where('id', 'in', ids)
      .where('state', '=', 'pending')
      .execute(),
  )
}
