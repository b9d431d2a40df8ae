import { withTimeout } from '../../model/with-timeout.js'
import type { Batch } from '../recording/batch.js'
import { FoldedGroup } from '../recording/folded-group.js'

/** Gives a batch to others to write; false when they cannot take it now, and it has to be kept here. */
export type EnqueueBatch = (batch: Batch) => Promise<boolean>

export interface EnqueueBatchParts {
  /** Settles when the text is safe, and whoever gets it calls `Recorder.recordEnqueuedBatch`. */
  add(text: string, batch_id: string): Promise<void>
  onFailed(error: unknown): void
}

/** Callers of the host wait for it. */
const PATIENCE_MS = 2000
const PAUSE_MS = { first: 1000, longest: 30_000 }

/** Tries whoever takes batches only now and then while they are away: no event waits for them twice in a row. */
export function createEnqueueBatch({ add, onFailed }: EnqueueBatchParts): EnqueueBatch {
  let pause = PAUSE_MS.first
  let not_before = -Infinity
  return async (batch) => {
    if (performance.now() < not_before) return false
    try {
      // An answer after the timeout is harmless: the batch id prevents counting it twice.
      await withTimeout(add(textOf(batch), batch.batch_id), PATIENCE_MS, { keepAlive: true })
      pause = PAUSE_MS.first
      return true
    } catch (error) {
      not_before = performance.now() + pause
      pause = Math.min(pause * 2, PAUSE_MS.longest)
      onFailed(error)
      return false
    }
  }
}

function textOf({ batch_id, application_name, groups }: Batch): string {
  return JSON.stringify({ batch_id, application_name, groups })
}

/** The batch of such a text. It may have been written before: whoever carries it gives it twice when in doubt. */
export function parseEnqueuedBatch(text: string): Batch {
  const { batch_id, application_name, groups } = JSON.parse(text)
  if (typeof batch_id !== 'string' || typeof application_name !== 'string' || !Array.isArray(groups)) {
    throw new TypeError('not a batch of errors')
  }
  return {
    batch_id,
    application_name,
    groups: groups.map((group) => FoldedGroup.fromJSON(group)),
    mayBeCommitted: true,
  }
}
