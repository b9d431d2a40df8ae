interface AbsenceParts {
  now(): number
  /** Whether the database accepts errors. Never rejects. */
  isBack(): Promise<boolean>
  /** Called once per outage, when it has ended. */
  onBack(): Promise<void>
}

/**
 * Time between the starts of two probes. Leaves more than four of the five seconds after a recovery to the import of
 * spooled errors. A probe is one small transaction.
 */
const PROBE_EVERY_MS = 500
/** Pause after a probe that took longer than the interval, such as one that timed out. */
const MIN_PAUSE_MS = 100

/** Whether the database is away. Probes it until it accepts errors again. */
export class Absence {
  readonly #parts: AbsenceParts
  #away: { since: number; timer: NodeJS.Timeout } | null = null
  #isClosed = false

  constructor(parts: AbsenceParts) {
    this.#parts = parts
  }

  get since(): number | null {
    return this.#away?.since ?? null
  }

  /** Returns false if the outage had begun before, or the recorder is closed. */
  begin(): boolean {
    if (this.#isClosed || this.#away) return false
    this.#away = { since: this.#parts.now(), timer: this.#probeAfter(PROBE_EVERY_MS) }
    return true
  }

  close(): void {
    this.#isClosed = true
    if (this.#away) clearTimeout(this.#away.timer)
  }

  #probeAfter(pause: number): NodeJS.Timeout {
    return setTimeout(() => void this.#probe(), pause).unref()
  }

  async #probe(): Promise<void> {
    const started = performance.now()
    const isBack = await this.#parts.isBack()
    if (this.#isClosed || !this.#away) return
    if (!isBack) {
      const elapsed = performance.now() - started
      this.#away.timer = this.#probeAfter(Math.max(MIN_PAUSE_MS, PROBE_EVERY_MS - elapsed))
      return
    }
    this.#away = null
    await this.#parts.onBack()
  }
}
