import { setImmediate } from 'node:timers/promises'
import type { Context } from '../../context.js'
import { sql } from '../../store/kysely.js'
import { packedRows } from '../../store/packed-rows.js'

export interface GuardRow {
  hour: number
  event_digest: string
  kind: string
  rule: string
  ip_address: string
  path: string
  count: number
  /** Where only the hour is known, its beginning. */
  last_seen_at: number
}

const COLUMNS = ['hour', 'event_digest', 'kind', 'rule', 'ip_address', 'path', 'count'] as const
const ROWS_PER_PAGE = 1000

/**
 * The sums of an application in some hours, oldest first, so many at once that an embedded database never holds the
 * host's thread for long, however many rules, addresses and paths an hour has.
 */
export async function* guardRows(
  { database }: Context,
  application_id: number,
  { from, to }: { from: number; to: number },
): AsyncGenerator<GuardRow[]> {
  for (let last = { hour: from, event_digest: '' }; ; ) {
    const query = database.read
      .selectFrom('faultboard_request_guard_hours')
      .select(COLUMNS)
      .select(sql<number>`coalesce(last_seen_at, hour)`.as('last_seen_at'))
      .where('application_id', '=', application_id)
      .where('hour', '>=', last.hour)
      .where('hour', '<', to)
      .where(sql<boolean>`(hour, event_digest) > (${last.hour}, ${last.event_digest})`)
      .orderBy('hour')
      .orderBy('event_digest')
      .limit(ROWS_PER_PAGE)
    const rows = await packedRows(database, query, [...COLUMNS, 'last_seen_at'])
    if (rows.length > 0) yield rows
    const newest = rows.at(-1)
    if (!newest || rows.length < ROWS_PER_PAGE) return
    last = newest
    await setImmediate()
  }
}
