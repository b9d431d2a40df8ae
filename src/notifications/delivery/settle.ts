import type { Context } from '../../context.js'
import type { Found } from './as-found.js'
import type { Ending } from './endings.js'
import { handOver } from './hand-over.js'
import { afterPause, beginPause, type Route, slowDown } from './slow-down.js'

/** What was answered is written down, however long that takes: otherwise it would be sent once more. */
const AGAIN_AFTER_MS = 250

export interface Settled {
  row: Found & Route
  /** What tells that the message is still this process's to settle. */
  locked_until: number
  /** By `performance.now()`: when the lock is nearly over. */
  deadline: number
  ending: Ending
  signal: AbortSignal
}

/** Writes down what became of a try, and sees to the next one. */
export async function settle(context: Context, settled: Settled): Promise<void> {
  const { row, ending } = settled
  const { state, attempts, paused_until } = ending
  const isFirst =
    paused_until !== undefined && (await untilWritten(settled, () => beginPause(context, row, paused_until)))
  const run_at = paused_until === undefined || isFirst ? ending.run_at : afterPause(context, paused_until)
  await untilWritten(settled, () => write(context, settled, run_at))
  if (state !== 'pending') return
  await handOver(context, [{ id: row.id, attempts, run_at: run_at ?? 0, queued_at: null }])
  if (isFirst && paused_until !== undefined) await slowDown(context, row, paused_until)
}

async function write(
  { database, now }: Context,
  { row, locked_until, ending }: Settled,
  run_at: number | undefined,
): Promise<void> {
  const { state, attempts, answer } = ending
  await database.write((trx) =>
    trx
      .updateTable('faultboard_deliveries')
      .set({
        ...{ state, attempts, last_answer: answer, locked_until: null },
        ...(state === 'pending' ? { run_at, queued_at: null } : { finished_at: now() }),
      })
      .where('id', '=', row.id)
      .where('locked_until', '=', locked_until)
      .execute(),
  )
}

async function untilWritten<T>({ deadline, signal }: Settled, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || performance.now() > deadline) throw error
    }
    await new Promise<void>((resume) => setTimeout(resume, AGAIN_AFTER_MS).unref())
  }
}
