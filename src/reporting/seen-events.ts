import { eventDigest, type ForeignError } from '../capture/clients/foreign-error.js'
import type { TrackerInstance } from '../tracker.js'

const MAX_REMEMBERED_DIGESTS = 10_000

/**
 * Records each event once, even if the client sends it again. The database stores all event digests; recent digests are
 * cached in memory.
 */
export class SeenEvents {
  readonly #tracker: TrackerInstance
  /** Stores digests, because a client can send keys of any length. */
  readonly #digests = new Set<string>()

  constructor(tracker: TrackerInstance) {
    this.#tracker = tracker
  }

  /** Returns false if the error is lost and the client should retry. */
  async record(error: ForeignError): Promise<boolean> {
    const digest = error.event_key === undefined ? undefined : eventDigest(error.event_key)
    if (digest !== undefined && this.#digests.has(digest)) {
      this.#tracker.drop('reported_again')
      return true
    }
    const outcome = await this.#tracker.intake.record(error)
    if (outcome === 'lost') return false
    // A dropped event is not remembered, so that it can be sent again.
    if (digest !== undefined && outcome !== null) this.#remember(digest)
    return true
  }

  #remember(digest: string): void {
    this.#digests.add(digest)
    if (this.#digests.size <= MAX_REMEMBERED_DIGESTS) return
    for (const oldest of this.#digests) {
      this.#digests.delete(oldest)
      return
    }
  }
}
