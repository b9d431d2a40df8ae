import type { Context } from '../context.js'
import type { Selectable } from '../store/kysely.js'
import type { DeliveriesTable } from '../store/schema.js'

/** A message as it was found: whoever has changed one of these since then sees to it himself. */
export type Found = Pick<Selectable<DeliveriesTable>, 'id' | 'attempts' | 'run_at' | 'queued_at'>

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
    .where(({ eb, and, or }) =>
      or(
        rows.map(({ id, attempts, run_at, queued_at }) =>
          and([
            eb('id', '=', id),
            eb('attempts', '=', attempts),
            eb(eb.fn.coalesce('run_at', eb.lit(0)), '=', run_at ?? 0),
            eb(eb.fn.coalesce('queued_at', eb.lit(0)), '=', queued_at ?? 0),
          ]),
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
