import { getEnvironmentData, setEnvironmentData, threadId } from 'node:worker_threads'

const KEY = 'faultboard:ended_threads'
const SLOTS = 1024

/**
 * Threads that have recorded the error that ends them. Uses memory shared between a thread and its children, so that
 * the parent knows at once that the copy it receives is already recorded.
 */
export const endOfThread = {
  /** Shares the memory with threads started from now on. Returns the function that stops sharing. */
  share(): () => void {
    if (sharers++ === 0 && board() === null) {
      setEnvironmentData(KEY, new Int32Array(new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT)))
      isOurs = true
    }
    return () => {
      if (--sharers > 0 || !isOurs) return
      setEnvironmentData(KEY, undefined as never)
      isOurs = false
    }
  },

  announce(): void {
    const threads = board()
    if (threads) Atomics.store(threads, threadId % SLOTS, threadId)
  },

  wasAnnounced(thread_id: number): boolean {
    const threads = board()
    return threads !== null && Atomics.load(threads, thread_id % SLOTS) === thread_id
  },
}

let sharers = 0
let isOurs = false

function board(): Int32Array | null {
  const shared: unknown = getEnvironmentData(KEY)
  return shared instanceof Int32Array && shared.length === SLOTS ? shared : null
}
