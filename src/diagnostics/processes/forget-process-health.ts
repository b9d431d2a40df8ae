import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'
import { KEPT_DAYS } from './process-health.js'

/** An embedded database holds the host's thread while it deletes. */
const AT_ONCE = 1000

/** Removes the minutes that nobody looks at any more, and the processes that are long gone. */
export async function forgetProcessHealth({ database: { read }, now }: Context): Promise<void> {
  const limit = now() - KEPT_DAYS * DAY
  const processes = await read.selectFrom('faultboard_processes').select(['id', 'last_minute']).execute()
  for (const { id, last_minute } of processes) {
    const outdated = () =>
      read.selectFrom('faultboard_process_minutes').where('process_id', '=', id).where('minute', '<', limit)
    for (;;) {
      const rows = await outdated().select('minute').orderBy('minute').limit(AT_ONCE).execute()
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
