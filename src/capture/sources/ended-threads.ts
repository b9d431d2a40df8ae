import { getEnvironmentData, setEnvironmentData, threadId } from 'node:worker_threads'

const ENVIRONMENT_KEY = 'faultboard:ended_threads'
const SLOTS = 1024

/**
 * Threads that have recorded the error that ends them. Uses memory shared between a thread and its children. The parent
 * can then detect that the error it receives is already recorded.
 */
export const endedThreads = {
  /** Shares the memory with all threads started later. Returns the function that stops sharing. */
  share(): () => void {
    if (sharerCount++ === 0 && sharedThreads() === null) {
      setEnvironmentData(ENVIRONMENT_KEY, new Int32Array(new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT)))
      isCreatedHere = true
    }
    return () => {
      if (--sharerCount > 0 || !isCreatedHere) return
      setEnvironmentData(ENVIRONMENT_KEY, undefined as never)
      isCreatedHere = false
    }
  },

  markEnded(): void {
    const threads = sharedThreads()
    if (threads) Atomics.store(threads, threadId % SLOTS, threadId)
  },

  hasEnded(id: number): boolean {
    const threads = sharedThreads()
    return threads !== null && Atomics.load(threads, id % SLOTS) === id
  },
}

let sharerCount = 0
let isCreatedHere = false

function sharedThreads(): Int32Array | null {
  const shared: unknown = getEnvironmentData(ENVIRONMENT_KEY)
  return shared instanceof Int32Array && shared.length === SLOTS ? shared : null
}
