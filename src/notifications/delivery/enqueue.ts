import type { Context } from '../../context.js'
import type { Expression, ExpressionBuilder, Selectable, SqlBool } from '../../store/kysely.js'
import type { DeliveriesTable, Schema } from '../../store/schema.js'

/** Data of a delivery job. The row may have changed since the job was created. */
export interface DeliveryJobData {
  delivery_id: number
  attempts: number
  run_at: number
}

/**
 * Enqueues one job per delivery and sets `queued_at`. Returns the number of rows that had not changed since they were
 * read.
 */
export async function enqueueDeliveries(
  { database, jobs, now }: Context,
  rows: readonly DeliverySnapshot[],
): Promise<number> {
  if (rows.length === 0) return 0
  await jobs.add(
    rows.map((row) => {
      const data = toJobData(row)
      return { name: 'deliver', data: { ...data }, key: jobKey(data), run_at: data.run_at }
    }),
  )
  const updated = await database.read
    .updateTable('faultboard_deliveries')
    .set({ queued_at: now() })
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .where((eb) =>
      eb.or(
        rows.map((row) =>
          eb.and([matchesSnapshot(row)(eb), eb(eb.fn.coalesce('queued_at', eb.lit(0)), '=', row.queued_at ?? 0)]),
        ),
      ),
    )
    .executeTakeFirst()
  return Number(updated.numUpdatedRows)
}

/** Enqueues another job for the same attempt while the current job is still running. */
export async function enqueueAgain({ jobs, now }: Context, row: DeliverySnapshot, run_at: number): Promise<void> {
  const data = toJobData(row)
  await jobs.add([{ name: 'deliver', data: { ...data }, key: `${jobKey(data)}:${now()}`, run_at }])
}

function toJobData({ id, attempts, run_at }: DeliverySnapshot): DeliveryJobData {
  return { delivery_id: id, attempts, run_at: run_at ?? 0 }
}

/** Includes `run_at`, because a postponed delivery is enqueued again while its previous job is still running. */
function jobKey({ delivery_id, attempts, run_at }: DeliveryJobData): string {
  return `delivery:${delivery_id}:${attempts}:${run_at}`
}

/** Columns read earlier. An update that no longer matches them lost a race and must do nothing. */
export type DeliverySnapshot = Pick<Selectable<DeliveriesTable>, 'id' | 'attempts' | 'run_at' | 'queued_at'>

type DeliveriesBuilder = ExpressionBuilder<Schema, 'faultboard_deliveries'>

/** Optimistic-lock condition: only one of several processes that read the same row can update it. */
export function matchesSnapshot({ id, attempts, run_at }: Pick<DeliverySnapshot, 'id' | 'attempts' | 'run_at'>) {
  return ({ eb, and }: DeliveriesBuilder): Expression<SqlBool> =>
    and([
      eb('id', '=', id),
      eb('attempts', '=', attempts),
      // A rate-limited attempt changes `run_at` but not `attempts`.
      eb(eb.fn.coalesce('run_at', eb.lit(0)), '=', run_at ?? 0),
    ])
}
