interface AbsenceParts {
  now(): number
  /** Never rejects. */
  isBack(): Promise<boolean>
  /** Called when it is, and is not called again while what this started is under way. */
  onBack(): Promise<void>
}

const PROBE_MS = { first: 1000, longest: 30_000 }

/**
 * Whether the database is away, and the looking whether it is back. The wait between two looks grows until an error is
 * written: a database that takes the look may still refuse or stall the rest.
 */
export class Absence {
  readonly #parts: AbsenceParts
  #away: { since: number; timer: NodeJS.Timeout } | null = null
  #wait_ms = PROBE_MS.first
  #closed = false

  constructor(parts: AbsenceParts) {
    this.#parts = parts
  }

  get since(): number | null {
    return this.#away?.since ?? null
  }

  /** Gives false where it has begun already, or nobody looks any more. */
  begin(): boolean {
    if (this.#closed || this.#away) return false
    this.#away = { since: this.#parts.now(), timer: this.#lookLater() }
    return true
  }

  /** An error was written. */
  written(): void {
    this.#wait_ms = PROBE_MS.first
  }

  close(): void {
    this.#closed = true
    if (this.#away) clearTimeout(this.#away.timer)
  }

  #lookLater(): NodeJS.Timeout {
    const wait = this.#wait_ms
    this.#wait_ms = Math.min(wait * 2, PROBE_MS.longest)
    return setTimeout(() => void this.#look(), wait).unref()
  }

  async #look(): Promise<void> {
    const back = await this.#parts.isBack()
    if (this.#closed || !this.#away) return
    if (!back) {
      this.#away.timer = this.#lookLater()
      return
    }
    this.#away = null
    await this.#parts.onBack()
  }
}
