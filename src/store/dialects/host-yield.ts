// Imported, because fake timers of a host's tests replace the global function and might never call back.
import { setImmediate } from 'node:timers'
import { nextTurn } from '../../model/event-loop-turns.js'

/** A quarter of the longest acceptable stall, because another query can start just before this limit. */
const MAX_BLOCKED_MS = 2

/**
 * Yields to the event loop of the host between queries. An embedded database responds synchronously, so awaiting it never
 * yields: a page with many queries would block the host until the last query.
 */
export class HostYield {
  #blockedSince: number | null = null

  /** Yields if the tracker has blocked the thread for several milliseconds in the current event loop iteration. */
  async yieldIfDue(): Promise<void> {
    if (this.#blockedSince !== null) {
      if (performance.now() - this.#blockedSince < MAX_BLOCKED_MS) return
      await nextTurn()
    }
    this.#blockedSince ??= this.#startTimer()
  }

  #startTimer(): number {
    // Runs in the next event loop iteration, after the host has had a chance to run.
    setImmediate(() => {
      this.#blockedSince = null
    }).unref()
    return performance.now()
  }
}
