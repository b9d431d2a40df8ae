import { setImmediate } from 'node:timers/promises'
import type { Context } from '../context.js'
import { DAY } from '../model/time.js'
import { applicationIds } from '../store/applications.js'

const TABLES = [
  'faultboard_request_guard_hours',
  'faultboard_repeated_statement_hours',
  'faultboard_deprecation_hours',
  'faultboard_swallowed_exceptions',
] as const

/** Removes sums that are older than `retention_days`, hour by hour: an embedded database holds the host's thread. */
export async function forgetHours(context: Context): Promise<void> {
  const { config, now } = context
  if (config.retention_days === null) return
  const limit = now() - config.retention_days * DAY
  for (const table of TABLES) {
    for (const id of await applicationIds(context.database)) await forget(context, table, id, limit)
  }
}

async function forget(
  { database: { read } }: Context,
  table: (typeof TABLES)[number],
  application_id: number,
  limit: number,
): Promise<void> {
  for (;;) {
    const oldest = await read
      .selectFrom(table)
      .select(({ fn }) => fn.min<number | null>('hour').as('first_hour'))
      .where('application_id', '=', application_id)
      .where('hour', '<', limit)
      .executeTakeFirst()
    const hour = oldest?.first_hour ?? null
    if (hour === null) return
    await read.deleteFrom(table).where('application_id', '=', application_id).where('hour', '=', hour).execute()
    await setImmediate()
  }
}
