/** Name of the combined row for everything beyond the limit on distinct names. */
export const OTHERS = '(others)'

/** Occurrences after which a late name gets its own row; ten times as many for each further quarter of the rows. */
const MIN_FREQUENT_COUNT = 10

/**
 * Selects the names that get their own row: the first ones, and later ones that are frequent. An attacker with a
 * hundred thousand names gets no more rows, but a frequent name is still visible.
 */
export class FrequentNames {
  readonly #most: number
  readonly #named = new Set<string>()
  /** Approximate counts of the names without a row. */
  readonly #candidates = new Map<string, number>()
  #promoted = 0

  constructor(maxNames: number) {
    this.#most = maxNames
  }

  admits(name: string): boolean {
    if (this.#named.has(name)) return true
    if (this.#named.size < this.#most) {
      this.#named.add(name)
      return true
    }
    if (this.#promoted >= this.#most) return false
    const count = (this.#candidates.get(name) ?? 0) + 1
    if (count < MIN_FREQUENT_COUNT * 10 ** Math.floor((4 * this.#promoted) / this.#most)) {
      this.#remember(name, count)
      return false
    }
    this.#candidates.delete(name)
    this.#named.add(name)
    this.#promoted++
    return true
  }

  #remember(name: string, count: number): void {
    this.#candidates.set(name, count)
    if (this.#candidates.size <= 4 * this.#most) return
    // Evicts names seen once first. If that is not enough, halves all counts.
    this.#thin((times) => (times > 1 ? times : 0))
    if (this.#candidates.size > 2 * this.#most) this.#thin((times) => times >> 1)
  }

  #thin(left: (times: number) => number): void {
    for (const [name, times] of this.#candidates) {
      if (left(times) === 0) this.#candidates.delete(name)
      else this.#candidates.set(name, left(times))
    }
  }
}
