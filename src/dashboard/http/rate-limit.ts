import { MINUTE } from '../../model/time.js'

export interface Verdict {
  allowed: boolean
  limit: number
  remaining: number
  /** Seconds until the next window. */
  reset: number
}

/**
 * Checks whether a one-minute window is open. A window that ends further ahead was opened before the clock was set
 * back.
 */
export function isOpenWindow({ ends }: { ends: number }, now: number): boolean {
  return ends > now && ends <= now + MINUTE
}

/** Bounds memory when requests come from many addresses. */
const MAX_ADDRESSES = 10_000

/** Counts requests per address in fixed windows of one minute. */
export class RateLimiter {
  readonly #limit: number
  readonly #now: () => number
  readonly #windows = new Map<string, { ends: number; count: number }>()

  constructor(limit: number, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  /** Adds to the count of an address and reports whether it is within the limit. */
  hit(address: string, count = 1): Verdict {
    const window = this.#window(address)
    window.count += count
    return this.#verdict(window)
  }

  /** Reports whether one more request would be within the limit, without counting it. */
  peek(address: string): Verdict {
    const { ends, count } = this.#window(address)
    return this.#verdict({ ends, count: count + 1 })
  }

  /** Reverts a hit. */
  release(address: string): void {
    const window = this.#window(address)
    // Zero if a new window has begun since the hit.
    window.count = Math.max(0, window.count - 1)
  }

  #window(address: string): { ends: number; count: number } {
    const current = this.#windows.get(address)
    if (current && isOpenWindow(current, this.#now())) return current
    if (this.#windows.size >= MAX_ADDRESSES) this.#evictOldest()
    const newWindow = { ends: this.#now() + MINUTE, count: 0 }
    this.#windows.delete(address)
    this.#windows.set(address, newWindow)
    return newWindow
  }

  #evictOldest(): void {
    // A Map iterates in insertion order, which is the order in which the windows end.
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
