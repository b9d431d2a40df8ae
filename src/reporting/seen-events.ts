import type { ForeignError } from '../capture/foreign-error.js'
import type { TrackerInstance } from '../tracker.js'

const MOST = 10_000

/**
 * Records events that a client may send again, each once. The database knows them all; what came to this process lately
 * is known without asking it.
 */
export class SeenEvents {
  readonly #tracker: TrackerInstance
  readonly #keys = new Set<string>()

  constructor(tracker: TrackerInstance) {
    this.#tracker = tracker
  }

  /** Gives false where the error is lost, and its client had better send it again. */
  async record(error: ForeignError): Promise<boolean> {
    const { event_key } = error
    if (event_key !== undefined && this.#keys.has(event_key)) {
      this.#tracker.drop('reported_again')
      return true
    }
    const outcome = await this.#tracker.inlet.record(error)
    if (outcome === 'lost') return false
    // What was left out may come once more.
    if (event_key !== undefined && outcome !== null) this.#remember(event_key)
    return true
  }

  #remember(event_key: string): void {
    this.#keys.add(event_key)
    if (this.#keys.size <= MOST) return
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest)
      return
    }
  }
}
