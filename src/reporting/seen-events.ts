import type { LoggedError } from '../capture/log-error.js'

const MOST = 10_000

/**
 * Which events came already: an SDK that got no answer sends an envelope again. What is still being written is waited
 * for by both; what could not be recorded may come once more.
 */
export class SeenEvents {
  readonly #events = new Map<string, Promise<LoggedError | null> | null>()

  /** Records the event unless it came before; gives whether it did. */
  async once(event_id: string, record: () => Promise<LoggedError | null>): Promise<boolean> {
    const known = this.#events.get(event_id)
    if (known !== undefined) {
      await known
      return true
    }
    const recording = record()
    this.#remember(event_id, recording)
    if ((await recording) === null) this.#events.delete(event_id)
    else this.#remember(event_id, null)
    return false
  }

  #remember(event_id: string, recording: Promise<LoggedError | null> | null): void {
    this.#events.set(event_id, recording)
    if (this.#events.size <= MOST) return
    for (const oldest of this.#events.keys()) {
      this.#events.delete(oldest)
      return
    }
  }
}
