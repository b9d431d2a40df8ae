import type { Context } from '../../context.js'
import { HOUR } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { beginCooldowns, runningCooldowns } from '../rules/cooldowns.js'
import { dispatchDue } from '../rules/dispatch.js'

/** The messages of one application by one channel go to one receiver. */
export interface Route {
  channel: string
  application_id: number | null
}

/** An embedded database holds the host's thread while it writes. */
const AT_ONCE = 200
/** A little slower than asked for, so that what is refused once more can be caught up with. */
const SLACK = 1.5
/** So many pauses long is the time over which those follow that found the receiver paused. */
const CROWD = 4
const LONGEST = HOUR

/** A receiver that was told too much is left alone, whichever process meets it next; until when, or null. */
export async function pausedUntil({ database, now }: Context, route: Route): Promise<number | null> {
  const name = pauseOf(route)
  return (await runningCooldowns(database.read, [name], now())).get(name) ?? null
}

/** When to come after the pause: of those that have met at it, not all in the same instant. */
export function afterPause({ now, random }: Context, until: number): number {
  return Math.round(until + Math.min(LONGEST, random() * CROWD * (until - now())))
}

/** Gives whether it was the first to be refused: whoever else was in the same moment has nothing to see to. */
export async function beginPause(context: Context, route: Route, until: number): Promise<boolean> {
  const { database } = context
  const isFirst = (await pausedUntil(context, route)) === null
  await beginCooldowns(database.read, database.dialect, [pauseOf(route)], until)
  return isFirst
}

/**
 * Lets what waits for a paused receiver follow one at a time: all at once they would be refused again, thousands of them
 * each time.
 */
export async function slowDown(context: Context, route: Route, until: number): Promise<void> {
  const step = Math.max(1, until - context.now()) * SLACK
  let moved = 0
  for (;;) {
    const ids = await dueBefore(context, route, until)
    if (ids.length === 0) break
    await spread(context, ids, (i) => Math.ceil(until + Math.min(LONGEST, step * (moved + i + 1))))
    moved += ids.length
  }
  if (moved > 0) await dispatchDue(context)
}

function pauseOf({ channel, application_id }: Route): string {
  return `channel:${application_id ?? 0}:${channel}`
}

async function dueBefore({ database }: Context, { channel, application_id }: Route, until: number): Promise<number[]> {
  const rows = await database.read
    .selectFrom('faultboard_deliveries')
    .select('id')
    .where('state', '=', 'pending')
    .where('channel', '=', channel)
    .where('application_id', application_id === null ? 'is' : '=', application_id)
    .where('run_at', '<', until)
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()
  return rows.map(({ id }) => id)
}

async function spread({ database }: Context, ids: readonly number[], slot: (i: number) => number): Promise<void> {
  const cases = ids.map((id, i) => sql`when ${id} then ${slot(i)}`)
  await database.write((trx) =>
    trx
      .updateTable('faultboard_deliveries')
      .set({ run_at: sql<number>`case id ${sql.join(cases, sql` `)} else run_at end`, queued_at: null })
      .where('id', 'in', ids)
      .where('state', '=', 'pending')
      .execute(),
  )
}
