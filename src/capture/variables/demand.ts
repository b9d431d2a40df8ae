import { MINUTE } from '../../model/time.js'

/** So long it is worth to wait for an error to come again. */
const ARMED_FOR = MINUTE
/** To begin stops the host for tens of milliseconds, and while it lasts every await costs more. */
const ARMED_EVERY = 5 * MINUTE
const REMEMBERED = 1000

/** When variables are worth their price: after an error that had none, until it comes again, and not too often. */
export class Demand {
  readonly #now: () => number
  readonly #work: { arm(): void; rest(): void }
  /** Signatures of errors whose variables are known. */
  readonly #known = new Set<string>()
  readonly #missing = new Set<string>()
  #armed_at = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null

  constructor(now: () => number, work: { arm(): void; rest(): void }) {
    this.#now = now
    this.#work = work
  }

  /** An error was logged, with its variables or without. */
  logged(hash_signature: string, has_variables: boolean): void {
    if (has_variables) this.#found(hash_signature)
    else if (!this.#known.has(hash_signature)) this.#missed(hash_signature)
  }

  stop(): void {
    clearTimeout(this.#timer as NodeJS.Timeout)
    clearImmediate(this.#timer as NodeJS.Immediate)
    this.#timer = null
  }

  #found(hash_signature: string): void {
    if (this.#known.size >= REMEMBERED) this.#known.clear()
    this.#known.add(hash_signature)
    if (this.#missing.delete(hash_signature) && this.#missing.size === 0) this.#rest()
  }

  #missed(hash_signature: string): void {
    if (this.#missing.size < REMEMBERED) this.#missing.add(hash_signature)
    if (this.#timer !== null || this.#now() - this.#armed_at < ARMED_EVERY) return
    this.#armed_at = this.#now()
    // Not within the request that failed: its answer goes first.
    this.#timer = setImmediate(() => {
      this.#timer = setTimeout(() => this.#rest(), ARMED_FOR)
      this.#timer.unref()
      this.#work.arm()
    })
    this.#timer.unref()
  }

  #rest(): void {
    this.stop()
    this.#missing.clear()
    this.#work.rest()
  }
}
