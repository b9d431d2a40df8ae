interface OutageParts {
  now(): number
  /** Returns true if the database accepts errors. Never rejects. */
  isAvailable(): Promise<boolean>
  /** Called once per outage, when it has ended. */
  onRecovered(): Promise<void>
}

/**
 * Time between the starts of two probes. Leaves more than four of the five seconds after a recovery to the import of
 * spooled errors. A probe is one small transaction.
 */
const PROBE_INTERVAL_MS = 500
/** Pause after a probe that took longer than the interval, such as one that timed out. */
const MIN_PAUSE_MS = 100

/** State of a database outage. Probes the database until it accepts errors again. */
export class Outage {
  readonly #parts: OutageParts
  #current: { since: number; reason: string; timer: NodeJS.Timeout } | null = null
  #isClosed = false

  constructor(parts: OutageParts) {
    this.#parts = parts
  }

  get since(): number | null {
    return this.#current?.since ?? null
  }

  /** Message of the failure that began the outage. */
  get reason(): string | null {
    return this.#current?.reason ?? null
  }

  /** Returns false during an outage, or if the recorder is closed. */
  begin(reason: string): boolean {
    if (this.#isClosed || this.#current) return false
    this.#current = { since: this.#parts.now(), reason, timer: this.#probeAfter(PROBE_INTERVAL_MS) }
    return true
  }

  close(): void {
    this.#isClosed = true
    if (this.#current) clearTimeout(this.#current.timer)
  }

  #probeAfter(pause: number): NodeJS.Timeout {
    return setTimeout(() => void this.#probe(), pause).unref()
  }

  async #probe(): Promise<void> {
    const started = performance.now()
    const isAvailable = await this.#parts.isAvailable()
    if (this.#isClosed || !this.#current) return
    if (!isAvailable) {
      const elapsed = performance.now() - started
      this.#current.timer = this.#probeAfter(Math.max(MIN_PAUSE_MS, PROBE_INTERVAL_MS - elapsed))
      return
    }
    this.#current = null
    await this.#parts.onRecovered()
  }
}
