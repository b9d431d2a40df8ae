import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'
import { RETENTION_DAYS } from './process-health.js'

/** Limits how long an embedded database blocks the host's thread. */
const BATCH_SIZE = 1000

/** Deletes minutes older than the retention, and processes without newer minutes. */
export async function deleteOldMinutes({ database: { read }, now }: Context): Promise<void> {
  const limit = now() - RETENTION_DAYS * DAY
  const processes = await read.selectFrom('faultboard_processes').select(['id', 'last_minute']).execute()
  for (const { id, last_minute } of processes) {
    const selectOutdated = () =>
      read.selectFrom('faultboard_process_minutes').where('process_id', '=', id).where('minute', '<', limit)
    for (;;) {
      const rows = await selectOutdated().select('minute').orderBy('minute').limit(BATCH_SIZE).execute()
      const last = rows.at(-1)
      if (!last) break
      await read
        .deleteFrom('faultboard_process_minutes')
        .where('process_id', '=', id)
        .where('minute', '<=', last.minute)
        .execute()
    }
    if (last_minute < limit) await read.deleteFrom('faultboard_processes').where('id', '=', id).execute()
  }
}
