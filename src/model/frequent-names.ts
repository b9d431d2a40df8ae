/** From how often on one that came too late is told apart after all; ten times that for each further quarter of them. */
const OFTEN = 10

/**
 * Tells which of very many names are worth a row of their own: the first, and later ones that come often. Whoever comes
 * under a hundred thousand names gets no more rows for it, and whoever comes often is still seen among them.
 */
export class FrequentNames {
  readonly #most: number
  readonly #named = new Set<string>()
  /** How often others came, roughly. */
  readonly #candidates = new Map<string, number>()
  #promoted = 0

  constructor(most: number) {
    this.#most = most
  }

  admits(name: string): boolean {
    if (this.#named.has(name)) return true
    if (this.#named.size < this.#most) {
      this.#named.add(name)
      return true
    }
    if (this.#promoted >= this.#most) return false
    const count = (this.#candidates.get(name) ?? 0) + 1
    if (count < OFTEN * 10 ** Math.floor((4 * this.#promoted) / this.#most)) {
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
    // Who came once goes first; only where that is not enough, everybody's count is halved.
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
