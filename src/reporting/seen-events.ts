import { eventDigest, type ForeignError } from '../capture/clients/foreign-error.js'
import type { TrackerInstance } from '../tracker.js'

const MOST = 10_000

/**
 * Records events that a client may send again, each once. The database knows them all; what came to this process lately
 * is known without asking it.
 */
export class SeenEvents {
  readonly #tracker: TrackerInstance
  /** Short, whatever the key: a client may write as much into it as a body has room for. */
  readonly #digests = new Set<string>()

  constructor(tracker: TrackerInstance) {
    this.#tracker = tracker
  }

  /** Gives false where the error is lost, and its client had better send it again. */
  async record(error: ForeignError): Promise<boolean> {
    const digest = error.event_key === undefined ? undefined : eventDigest(error.event_key)
    if (digest !== undefined && this.#digests.has(digest)) {
      this.#tracker.drop('reported_again')
      return true
    }
    const outcome = await this.#tracker.inlet.record(error)
    if (outcome === 'lost') return false
    // What was left out may come once more.
    if (digest !== undefined && outcome !== null) this.#remember(digest)
    return true
  }

  #remember(digest: string): void {
    this.#digests.add(digest)
    if (this.#digests.size <= MOST) return
    for (const oldest of this.#digests) {
      this.#digests.delete(oldest)
      return
    }
  }
}
