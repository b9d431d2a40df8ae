import { MINUTE } from '../model/time.js'

export interface Verdict {
  allowed: boolean
  limit: number
  remaining: number
  /** Seconds until the window starts anew. */
  reset: number
}

/** Most addresses that are remembered at once; a flood of addresses must not fill the host's memory. */
const MAX_ADDRESSES = 10_000

/** Counts per address in windows of a minute. */
export class RateLimiter {
  readonly #limit: number
  readonly #now: () => number
  readonly #windows = new Map<string, { ends: number; count: number }>()

  constructor(limit: number, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  /** Counts one, or several at once, and tells whether it is within the limit. */
  hit(address: string, count = 1): Verdict {
    const window = this.#window(address)
    window.count += count
    return this.#verdict(window)
  }

  /** Tells whether one more would be within the limit, without counting it. */
  peek(address: string): Verdict {
    const { ends, count } = this.#window(address)
    return this.#verdict({ ends, count: count + 1 })
  }

  #window(address: string): { ends: number; count: number } {
    const known = this.#windows.get(address)
    if (known && known.ends > this.#now()) return known
    if (this.#windows.size >= MAX_ADDRESSES) this.#forgetOldest()
    const fresh = { ends: this.#now() + MINUTE, count: 0 }
    this.#windows.delete(address)
    this.#windows.set(address, fresh)
    return fresh
  }

  #forgetOldest(): void {
    // A Map keeps the order of insertion, which is that of the windows' ends.
    for (const address of this.#windows.keys()) {
      this.#windows.delete(address)
      if (this.#windows.size < MAX_ADDRESSES * 0.9) return
    }
  }

  #verdict({ ends, count }: { ends: number; count: number }): Verdict {
    return {
      allowed: count <= this.#limit,
      limit: this.#limit,
      remaining: Math.max(0, this.#limit - count),
      reset: Math.max(1, Math.ceil((ends - this.#now()) / 1000)),
    }
  }
}
