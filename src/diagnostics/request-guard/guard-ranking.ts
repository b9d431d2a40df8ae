export type GuardName = 'rule' | 'kind' | 'ip_address' | 'path'
export type RankedRow<Name extends GuardName> = Record<Name, string> & { count: number; last_seen_at: number }
type Ranked<Name extends GuardName> = Record<Name, string> & { count: number; last_seen_at: string }

const MAX_ROWS = 2000

/**
 * Most frequent values of one or two columns. Removes rare values regularly, because an attack can use very many addresses
 * and paths.
 */
export class Ranking<Name extends GuardName> {
  readonly names: readonly [Name, Name?]
  readonly #rows = new Map<string, RankedRow<Name>>()

  constructor(names: readonly [Name, Name?]) {
    this.names = names
  }

  add(row: RankedRow<Name>): void {
    const [first, second] = this.names
    const key = second === undefined ? row[first] : `${row[first]}\0${row[second]}`
    const existing = this.#rows.get(key)
    if (existing) {
      existing.count += row.count
      existing.last_seen_at = Math.max(existing.last_seen_at, row.last_seen_at)
      return
    }
    // Copies the row, because later counts are added to the copy.
    this.#rows.set(key, { ...row })
    if (this.#rows.size > 2 * MAX_ROWS) this.#trim()
  }

  top(limit: number): Ranked<Name>[] {
    return [...this.#rows.values()]
      .sort((a, b) => b.count - a.count || b.last_seen_at - a.last_seen_at)
      .slice(0, limit)
      .map((row) => {
        const ranked = { count: row.count, last_seen_at: new Date(row.last_seen_at).toISOString() }
        return Object.assign(ranked, ...this.names.map((name) => name && { [name]: row[name] })) as Ranked<Name>
      })
  }

  /** Keeps the most frequent rows. Of equally frequent rows, the oldest are removed. */
  #trim(): void {
    const counts = Float64Array.from(this.#rows.values(), ({ count }) => count).sort()
    const minimum = counts[counts.length - MAX_ROWS] ?? 0
    for (const [key, { count }] of this.#rows) if (count < minimum) this.#rows.delete(key)
    for (const [key, { count }] of this.#rows) {
      if (this.#rows.size <= MAX_ROWS) return
      if (count === minimum) this.#rows.delete(key)
    }
  }
}
