import type { Context } from '../../context.js'
import { asFound, type Found } from './as-found.js'

/** What the job of a message knows of it; the row may have gone on since. */
export interface DeliverData {
  delivery_id: number
  attempts: number
  run_at: number
}

/** Gives each message a job for its time, and marks it so; gives how many were still as they had been found. */
export async function handOver({ database, jobs, now }: Context, rows: readonly Found[]): Promise<number> {
  if (rows.length === 0) return 0
  await jobs.add(
    rows.map((row) => {
      const data = deliverData(row)
      return { name: 'deliver', data: { ...data }, key: keyOf(data), run_at: data.run_at }
    }),
  )
  const marked = await database.read
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
          eb.and([asFound(row)(eb), eb(eb.fn.coalesce('queued_at', eb.lit(0)), '=', row.queued_at ?? 0)]),
        ),
      ),
    )
    .executeTakeFirst()
  return Number(marked.numUpdatedRows)
}

/** A further job for the same try, beside the one that asks for it. */
export async function handOverAgain({ jobs, now }: Context, row: Found, run_at: number): Promise<void> {
  const data = deliverData(row)
  await jobs.add([{ name: 'deliver', data: { ...data }, key: `${keyOf(data)}:${now()}`, run_at }])
}

function deliverData({ id, attempts, run_at }: Found): DeliverData {
  return { delivery_id: id, attempts, run_at: run_at ?? 0 }
}

/** The time is a part of it: a message that was put off is handed over while its last job is still at work. */
function keyOf({ delivery_id, attempts, run_at }: DeliverData): string {
  return `delivery:${delivery_id}:${attempts}:${run_at}`
}
