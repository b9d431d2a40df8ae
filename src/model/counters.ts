/** Counts of what did not go the ordinary way, by reason: nothing is dropped in silence. */
export class Counters {
  readonly #counts = new Map<string, number>()

  add(reason: string, by = 1): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + by)
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => a.localeCompare(b)))
  }
}
