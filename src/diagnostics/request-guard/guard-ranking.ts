export type GuardName = 'rule' | 'kind' | 'ip_address' | 'path'
export type RankedRow<Name extends GuardName> = Record<Name, string> & { count: number; last_seen_at: number }
type Ranked<Name extends GuardName> = Record<Name, string> & { count: number; last_seen_at: string }

const KEPT = 2000

/**
 * What came most often, by one or two columns. Anybody can come from very many addresses or ask for very many paths, so
 * only the most frequent are kept from time to time.
 */
export class Ranking<Name extends GuardName> {
  readonly names: readonly [Name, Name?]
  readonly #rows = new Map<string, RankedRow<Name>>()

  constructor(names: readonly [Name, Name?]) {
    this.names = names
  }

  add(row: RankedRow<Name>): void {
    const [one, other] = this.names
    const key = other === undefined ? row[one] : `${row[one]}\0${row[other]}`
    const known = this.#rows.get(key)
    if (known) {
      known.count += row.count
      known.last_seen_at = Math.max(known.last_seen_at, row.last_seen_at)
      return
    }
    // A row is of its own: it is added to from now on.
    this.#rows.set(key, { ...row })
    if (this.#rows.size > 2 * KEPT) this.#trim()
  }

  first(most: number): Ranked<Name>[] {
    return [...this.#rows.values()]
      .sort((a, b) => b.count - a.count || b.last_seen_at - a.last_seen_at)
      .slice(0, most)
      .map((row) => {
        const ranked = { count: row.count, last_seen_at: new Date(row.last_seen_at).toISOString() }
        return Object.assign(ranked, ...this.names.map((name) => name && { [name]: row[name] })) as Ranked<Name>
      })
  }

  /** Of those that came equally often, the first go. */
  #trim(): void {
    const counts = Float64Array.from(this.#rows.values(), ({ count }) => count).sort()
    const least = counts[counts.length - KEPT] ?? 0
    for (const [key, { count }] of this.#rows) if (count < least) this.#rows.delete(key)
    for (const [key, { count }] of this.#rows) {
      if (this.#rows.size <= KEPT) return
      if (count === least) this.#rows.delete(key)
    }
  }
}
