import { withTimeout } from '../../model/with-timeout.js'
import type { Batch } from '../recording/batch.js'
import { FoldedGroup } from '../recording/folded-group.js'

/** Adds a batch to the job engine. Returns false if the engine is unavailable. */
export type EnqueueBatch = (batch: Batch) => Promise<boolean>

export interface EnqueueBatchParts {
  /** Resolves when the job engine has stored the text. A worker passes it to `Recorder.recordEnqueuedBatch`. */
  add(text: string, batch_id: string): Promise<void>
  onFailed(error: unknown): void
}

/** Short, because the host's call waits for it. */
const TIMEOUT_MS = 2000
const MIN_BACKOFF_MS = 1000
const MAX_BACKOFF_MS = 30_000

/** Backs off after a failure, so that events do not wait repeatedly for an unavailable engine. */
export function createEnqueueBatch({ add, onFailed }: EnqueueBatchParts): EnqueueBatch {
  let backoffMs = MIN_BACKOFF_MS
  let retryAt = -Infinity
  return async (batch) => {
    if (performance.now() < retryAt) return false
    try {
      // A response after the timeout is harmless: the batch id prevents double counting.
      await withTimeout(add(serializeBatch(batch), batch.batch_id), TIMEOUT_MS, { keepAlive: true })
      backoffMs = MIN_BACKOFF_MS
      return true
    } catch (error) {
      retryAt = performance.now() + backoffMs
      backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      onFailed(error)
      return false
    }
  }
}

function serializeBatch({ batch_id, application_name, groups }: Batch): string {
  return JSON.stringify({ batch_id, application_name, groups })
}

/** Parses the text of a job. The batch may have been written before, because job engines deliver at least once. */
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
