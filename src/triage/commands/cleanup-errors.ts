import * as v from 'valibot'
import type { Context } from '../../context.js'
import { integer } from '../../model/input/input.js'
import { DAY } from '../../model/time.js'
import { defineCommand } from '../../operation.js'
import { deleteErrors, finishDeletions } from './delete-errors.js'

const ERRORS_PER_BATCH = 200
/** Batch markers are needed only while a spool file with the same id can still appear. */
const BATCH_MARKER_DAYS = 90
/** Clients retry a report without a response within hours, or when the application is opened again. */
const REPORT_DIGEST_DAYS = 3
/** Deleting blocks the host's event loop on SQLite, so batches are small. */
const REPORTS_PER_BATCH = 500

export interface CleanupResult {
  deleted: number
  /** Null when `retention_days` is null and nothing is deleted. */
  older_than: string | null
}

/** Deletes errors not seen for `retention_days` and finishes interrupted deletions, in small transactions. */
export const cleanupErrors = defineCommand({
  input: v.object({
    retention_days: v.optional(integer({ min: 1, max: 36_500 })),
    /** Called before the first and after every batch. */
    on_progress: v.optional(
      v.custom<(deleted: number, total: number) => void>((value) => typeof value === 'function', 'must be a function'),
    ),
  }),
  async run(context, input): Promise<CleanupResult> {
    const { database, now, config } = context
    await database.read
      .deleteFrom('faultboard_batches')
      .where('created_at', '<', now() - BATCH_MARKER_DAYS * DAY)
      .execute()
    await deleteOldReportDigests(context)
    await finishDeletions(context)
    const days = input.retention_days ?? config.retention_days
    if (days === null) return { deleted: 0, older_than: null }
    const cutoff = now() - days * DAY
    const total = input.on_progress ? await countErrorsBefore(context, cutoff) : 0
    for (let deleted = 0; ; ) {
      input.on_progress?.(deleted, total)
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
  audit: (_input, { deleted }) => (deleted === 0 ? null : { action: 'clean_up', count: deleted }),
})

async function countErrorsBefore({ database }: Context, cutoff: number): Promise<number> {
  const { count } = await database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('occurred_at', '<', cutoff)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Deletes the digests used to detect duplicate reports, once no retry can arrive. */
async function deleteOldReportDigests({ database, now }: Context): Promise<void> {
  const cutoff = now() - REPORT_DIGEST_DAYS * DAY
  for (;;) {
    const oldDigests = await database.read
      .selectFrom('faultboard_reported_events')
      .select(['application_id', 'event_digest'])
      .where('created_at', '<', cutoff)
      .limit(REPORTS_PER_BATCH)
      .execute()
    if (oldDigests.length === 0) return
    await database.write((trx) =>
      trx
        .deleteFrom('faultboard_reported_events')
        .where('application_id', 'in', [...new Set(oldDigests.map(({ application_id }) => application_id))])
        .where(
          'event_digest',
          'in',
          oldDigests.map(({ event_digest }) => event_digest),
        )
        .where('created_at', '<', cutoff)
        .execute(),
    )
  }
}
