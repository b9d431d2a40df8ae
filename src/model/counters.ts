/** Counts by reason for everything that was dropped or handled with a fallback. */
export class Counters {
  readonly #counts = new Map<string, number>()

  add(reason: string, count = 1): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count)
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}
