import type { Context } from '../../context.js'
import { nextTurn } from '../../model/event-loop-turns.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { sql } from '../../store/kysely.js'

export interface GuardRow {
  hour: number
  event_digest: string
  environment: string
  kind: string
  rule: string
  ip_address: string
  path: string
  count: number
  /** Start of the hour if the exact time is unknown. */
  last_seen_at: number
}

const COLUMNS = ['hour', 'event_digest', 'environment', 'kind', 'rule', 'ip_address', 'path', 'count'] as const
const BATCH_SIZE = 1000

/**
 * Reads the rows of an application in a range of hours, of one or all environments, oldest first. Small batches limit how long an embedded database
 * blocks the host's thread.
 */
export async function* guardRows(
  { database }: Context,
  application_id: number,
  { from, to, environment }: { from: number; to: number; environment?: string | undefined },
): AsyncGenerator<GuardRow[]> {
  for (let last = { hour: from, event_digest: '' }; ; ) {
    const query = database.read
      .selectFrom('faultboard_request_guard_hours')
      .select(COLUMNS)
      .select(sql<number>`coalesce(last_seen_at, hour)`.as('last_seen_at'))
      .where('application_id', '=', application_id)
      .where('hour', '>=', last.hour)
      .where('hour', '<', to)
      .$if(environment !== undefined, (query) => query.where('environment', '=', environment ?? ''))
      .where(sql<boolean>`(hour, event_digest) > (${last.hour}, ${last.event_digest})`)
      .orderBy('hour')
      .orderBy('event_digest')
      .limit(BATCH_SIZE)
    const rows = await packedRows(database, query, [...COLUMNS, 'last_seen_at'])
    if (rows.length > 0) yield rows
    const newest = rows.at(-1)
    if (!newest || rows.length < BATCH_SIZE) return
    last = newest
    await nextTurn()
  }
}
