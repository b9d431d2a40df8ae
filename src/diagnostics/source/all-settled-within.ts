import { withTimeout } from '../../model/with-timeout.js'

/** Waits until all promises have settled or the timeout expires. Returns whether all have settled. Never rejects. */
export async function allSettledWithin(promises: readonly Promise<unknown>[], timeoutMs: number): Promise<boolean> {
  return withTimeout(Promise.allSettled(promises), timeoutMs).then(
    () => true,
    () => false,
  )
}
