import { MINUTE } from '../../model/time.js'

/** How long to stay armed for a repeat. */
const MAX_ARMED_MS = MINUTE
/** Arming blocks the host for tens of ms. While armed, awaits are slower and a stack overflow can abort the process. */
const ARMING_INTERVAL_MS = 5 * MINUTE
const MAX_SIGNATURES = 1000
/** Repeats without variables after which waiting is pointless, because host code does not throw such an error. */
const MAX_UNREAD_REPEATS = 3
/** Repeats before this time do not count: they may have been thrown before the session started. */
const SETTLED_AFTER_MS = 1000

interface Arming {
  arm(): void
  disarm(): void
}

/** Arms after an error without variables until it repeats, to keep the armed time short. */
export class AdaptiveArming {
  readonly #now: () => number
  readonly #arming: Arming
  /** Signatures of errors that have variables. */
  readonly #withVariables = new Set<string>()
  /** Number of repeats while armed, by signature of an error that still has no variables. */
  readonly #withoutVariables = new Map<string, number>()
  #isArmed = false
  #armedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null

  constructor(now: () => number, arming: Arming) {
    this.#now = now
    this.#arming = arming
  }

  /** Handles an error that is being logged. */
  onLogged(signature: string, hasVariables: boolean): void {
    if (hasVariables) this.#addWithVariables(signature)
    else if (!this.#withVariables.has(signature)) this.#addWithoutVariables(signature)
  }

  stop(): void {
    clearTimeout(this.#timer as NodeJS.Timeout)
    clearImmediate(this.#timer as NodeJS.Immediate)
    this.#timer = null
  }

  #addWithVariables(signature: string): void {
    if (this.#withVariables.size >= MAX_SIGNATURES) this.#withVariables.clear()
    this.#withVariables.add(signature)
    this.#stopWaitingFor(signature)
  }

  #addWithoutVariables(signature: string): void {
    const repeats = this.#withoutVariables.get(signature)
    if (this.#isArmed && repeats !== undefined) {
      if (this.#now() - this.#armedAt >= SETTLED_AFTER_MS) this.#addRepeat(signature, repeats + 1)
      return
    }
    if (repeats === undefined && this.#withoutVariables.size < MAX_SIGNATURES) this.#withoutVariables.set(signature, 0)
    if (this.#timer !== null || this.#now() - this.#armedAt < ARMING_INTERVAL_MS) return
    this.#armedAt = this.#now()
    // Deferred so that the response of the failed request is not delayed.
    this.#timer = setImmediate(() => {
      this.#timer = setTimeout(() => this.#disarm(), MAX_ARMED_MS)
      this.#timer.unref()
      this.#isArmed = true
      this.#arming.arm()
    })
    this.#timer.unref()
  }

  #addRepeat(signature: string, repeats: number): void {
    if (repeats < MAX_UNREAD_REPEATS) this.#withoutVariables.set(signature, repeats)
    else this.#stopWaitingFor(signature)
  }

  #stopWaitingFor(signature: string): void {
    if (this.#withoutVariables.delete(signature) && this.#withoutVariables.size === 0) this.#disarm()
  }

  #disarm(): void {
    this.stop()
    this.#isArmed = false
    this.#withoutVariables.clear()
    this.#arming.disarm()
  }
}
