import * as v from 'valibot'
import { integer } from '../../model/input.js'
import { DAY } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { deleteErrors, finishDeletions } from './delete-errors.js'
import { deleteOldReports } from './delete-old-reports.js'

const ERRORS_PER_BATCH = 200
/** Batch markers are needed only while a spool file with the same id may still appear. */
const BATCH_MARKER_DAYS = 90

export interface CleanupResult {
  deleted: number
  /** Null when `retention_days` is null and nothing is deleted. */
  older_than: string | null
}

/** Deletes errors not seen for `retention_days` and finishes interrupted deletions, in small transactions. */
export const cleanupErrors = defineOperation({
  input: v.object({ retention_days: v.optional(integer({ min: 1, max: 36_500 })) }),
  async run(context, input): Promise<CleanupResult> {
    const { database, now, config } = context
    await database.read
      .deleteFrom('faultboard_batches')
      .where('created_at', '<', now() - BATCH_MARKER_DAYS * DAY)
      .execute()
    await deleteOldReports(context)
    await finishDeletions(context)
    const days = input.retention_days ?? config.retention_days
    if (days === null) return { deleted: 0, older_than: null }
    const cutoff = now() - days * DAY
    for (let deleted = 0; ; ) {
      const rows = await database.read
        .selectFrom('faultboard_errors')
        .select('id')
        .where('occurred_at', '<', cutoff)
        .orderBy('occurred_at')
        .limit(ERRORS_PER_BATCH)
        .execute()
      if (rows.length === 0) return { deleted, older_than: new Date(cutoff).toISOString() }
      deleted += await deleteErrors(
        context,
        rows.map(({ id }) => id),
      )
    }
  },
})
