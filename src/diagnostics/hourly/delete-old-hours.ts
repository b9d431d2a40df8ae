import type { Context } from '../../context.js'
import { nextTurn } from '../../model/event-loop-turns.js'
import { DAY } from '../../model/time.js'
import { applicationIds } from '../../store/applications.js'
import type { HourTableName } from '../../store/counters/define-hour-table.js'

/** Deletes the rows of a table that are older than `retention_days`, one hour at a time to keep transactions short. */
export async function deleteOldHours({ config, database, now }: Context, table: HourTableName): Promise<void> {
  if (config.retention_days === null) return
  const limit = now() - config.retention_days * DAY
  const { read } = database
  for (const application_id of await applicationIds(database)) {
    for (;;) {
      const oldest = await read
        .selectFrom(table)
        .select(({ fn }) => fn.min<number | null>('hour').as('first_hour'))
        .where('application_id', '=', application_id)
        .where('hour', '<', limit)
        .executeTakeFirst()
      const hour = oldest?.first_hour ?? null
      if (hour === null) break
      await read.deleteFrom(table).where('application_id', '=', application_id).where('hour', '=', hour).execute()
      await nextTurn()
    }
  }
}
