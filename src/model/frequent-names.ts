/** Name of the combined row for everything beyond the limit on distinct names. */
export const OTHERS = '(others)'

/** Occurrences after which a late name gets its own row; ten times as many for each further quarter of the rows. */
const MIN_FREQUENT_COUNT = 10

/**
 * Selects the names that get their own row: the first names, and later names that are frequent. An attacker with a
 * hundred thousand names gets no more rows, but a frequent name is still visible.
 */
export class FrequentNames {
  readonly #maxNames: number
  readonly #admitted = new Set<string>()
  /** Approximate counts of the names without a row. */
  readonly #candidates = new Map<string, number>()
  #promotedCount = 0

  constructor(maxNames: number) {
    this.#maxNames = maxNames
  }

  admits(name: string): boolean {
    if (this.#admitted.has(name)) return true
    if (this.#admitted.size < this.#maxNames) {
      this.#admitted.add(name)
      return true
    }
    if (this.#promotedCount >= this.#maxNames) return false
    const count = (this.#candidates.get(name) ?? 0) + 1
    if (count < MIN_FREQUENT_COUNT * 10 ** Math.floor((4 * this.#promotedCount) / this.#maxNames)) {
      this.#addCandidate(name, count)
      return false
    }
    this.#candidates.delete(name)
    this.#admitted.add(name)
    this.#promotedCount++
    return true
  }

  #addCandidate(name: string, count: number): void {
    this.#candidates.set(name, count)
    if (this.#candidates.size <= 4 * this.#maxNames) return
    // Evicts names seen once first. If that is not enough, halves all counts.
    this.#reduceCounts((count) => (count > 1 ? count : 0))
    if (this.#candidates.size > 2 * this.#maxNames) this.#reduceCounts((count) => count >> 1)
  }

  #reduceCounts(reduce: (count: number) => number): void {
    for (const [name, count] of this.#candidates) {
      if (reduce(count) === 0) this.#candidates.delete(name)
      else this.#candidates.set(name, reduce(count))
    }
  }
}
