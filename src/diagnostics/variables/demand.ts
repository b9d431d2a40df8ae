import { MINUTE } from '../../model/time.js'

/** How long to stay armed for a repeat. */
const ARMED_FOR = MINUTE
/** Arming blocks the host for tens of milliseconds. While armed, every await costs more and an overflow can abort it. */
const ARMED_EVERY = 5 * MINUTE
const REMEMBERED = 1000
/** Repeats without variables after which waiting is pointless: such an error is not thrown by code of the host. */
const MAX_UNREAD_REPEATS = 3
/** Repeats before this time do not count: they may have been thrown before the session started. */
const SETTLED_AFTER_MS = 1000

/** Arms after an error without variables, until it repeats. Armed for as short as possible, and not too often. */
export class Demand {
  readonly #now: () => number
  readonly #work: { arm(): void; rest(): void }
  /** Signatures of errors whose variables are known. */
  readonly #known = new Set<string>()
  /** Repeats without variables while armed, by signature of an error whose variables are not known. */
  readonly #missing = new Map<string, number>()
  #is_armed = false
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
    const repeats = this.#missing.get(hash_signature)
    if (this.#is_armed && repeats !== undefined) {
      if (this.#now() - this.#armed_at >= SETTLED_AFTER_MS) this.#repeatedUnread(hash_signature, repeats + 1)
      return
    }
    if (repeats === undefined && this.#missing.size < REMEMBERED) this.#missing.set(hash_signature, 0)
    if (this.#timer !== null || this.#now() - this.#armed_at < ARMED_EVERY) return
    this.#armed_at = this.#now()
    // Not within the request that failed: its answer goes first.
    this.#timer = setImmediate(() => {
      this.#timer = setTimeout(() => this.#rest(), ARMED_FOR)
      this.#timer.unref()
      this.#is_armed = true
      this.#work.arm()
    })
    this.#timer.unref()
  }

  #repeatedUnread(hash_signature: string, repeats: number): void {
    if (repeats < MAX_UNREAD_REPEATS) this.#missing.set(hash_signature, repeats)
    else if (this.#missing.delete(hash_signature) && this.#missing.size === 0) this.#rest()
  }

  #rest(): void {
    this.stop()
    this.#is_armed = false
    this.#missing.clear()
    this.#work.rest()
  }
}
