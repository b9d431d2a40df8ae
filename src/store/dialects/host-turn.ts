const STAND_STILL_MS = 8

/**
 * How long the host's thread has been ours. Answers of an embedded database come at once, so waiting for them gives
 * nobody a turn: a page that asks many questions would hold up the host until its last one.
 */
export class HostTurn {
  #ours_since: number | null = null

  /** Lets the host do what waits, once the thread was ours for some milliseconds, whatever they were spent on. */
  async giveWay(): Promise<void> {
    if (this.#ours_since !== null) {
      if (performance.now() - this.#ours_since < STAND_STILL_MS) return
      await new Promise((resume) => setImmediate(resume))
    }
    this.#ours_since ??= this.#begin()
  }

  #begin(): number {
    // When the event loop comes round to it, the host has had its turn.
    setImmediate(() => {
      this.#ours_since = null
    }).unref()
    return performance.now()
  }
}
