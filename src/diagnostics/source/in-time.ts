import { withTimeout } from '../../model/with-timeout.js'

/** Waits until all promises have settled, but no longer than the limit. Returns whether all have. Never rejects. */
export async function settledInTime(work: readonly Promise<unknown>[], limit_ms: number): Promise<boolean> {
  return withTimeout(Promise.allSettled(work), limit_ms).then(
    () => true,
    () => false,
  )
}
