/** Deterministic random numbers: the same seed produces the same sequence. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to but not including 1 (mulberry32). */
  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** Between `min` and `max`, inclusive. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.number() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.number() < probability
  }

  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    return items[this.integer(0, items.length - 1)] as T
  }

  /** Returns an index, chosen by its weight. */
  weightedIndex(weights: readonly number[]): number {
    let rest = this.number() * weights.reduce((sum, weight) => sum + weight, 0)
    const found = weights.findIndex((weight) => {
      rest -= weight
      return rest < 0
    })
    return found < 0 ? weights.length - 1 : found
  }

  /** Poisson-distributed count. Uses an approximation for large means. */
  poisson(mean: number): number {
    if (mean > 50) return Math.max(0, Math.round(mean + (this.number() + this.number() - 1) * Math.sqrt(mean) * 2))
    const limit = Math.exp(-mean)
    let count = 0
    for (let product = this.number(); product > limit; product *= this.number()) count++
    return count
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.integer(0, 15).toString(16)).join('')
  }
}
