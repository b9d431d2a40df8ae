/** Counts of one error type at one raise location in one hour, since the last flush. */
export interface Tally {
  hour: number
  errorType: string
  raiseLocation: string
  raised: number
  reported: number
  /** Rescues by rescue location. */
  rescues: Map<string, Rescues>
}

export interface Rescues {
  location: string
  handlerKind: string
  /** Change since the last flush. Negative if a rescue of an earlier flush is revoked because the error was reported. */
  count: number
}

/** Amounts to add to one row of `faultboard_swallowed_exceptions`. */
export interface TallyRow {
  hour: number
  error_type: string
  raise_location: string
  /** Empty in the row that counts raised and reported errors. */
  rescue_location: string
  handler_kind: string
  raise_count: number
  rescue_count: number
  reported_count: number
}

/** Tallies with unflushed counts. Above the limit, the least recently used tallies are evicted. */
export class OpenTallies {
  readonly #open = new Set<Tally>()
  #evicted = 0
  limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get size(): number {
    return this.#open.size
  }

  touch(tally: Tally): void {
    // The order of last use matters only when an eviction is near.
    if (this.#open.size > this.limit / 2) this.#open.delete(tally)
    this.#open.add(tally)
    if (this.#open.size > this.limit) this.#evictOldest()
  }

  /** Returns all counts since the last call and resets them. */
  take(): { rows: TallyRow[]; evicted: number } {
    const rows = [...this.#open].flatMap(takeRows)
    const evicted = this.#evicted
    this.#open.clear()
    this.#evicted = 0
    return { rows, evicted }
  }

  #evictOldest(): void {
    const [oldest] = this.#open
    if (!oldest) return
    this.#open.delete(oldest)
    resetCounts(oldest)
    this.#evicted++
  }
}

function takeRows(tally: Tally): TallyRow[] {
  const { hour, errorType, raiseLocation, raised, reported, rescues } = tally
  const key = { hour, error_type: errorType, raise_location: raiseLocation }
  const rows: TallyRow[] = []
  if (raised !== 0 || reported !== 0) {
    rows.push({
      ...key,
      rescue_location: '',
      handler_kind: '',
      raise_count: raised,
      rescue_count: 0,
      reported_count: reported,
    })
  }
  for (const { location, handlerKind, count } of rescues.values()) {
    if (count === 0) continue
    rows.push({
      ...key,
      rescue_location: location,
      handler_kind: handlerKind,
      raise_count: 0,
      rescue_count: count,
      reported_count: 0,
    })
  }
  resetCounts(tally)
  return rows
}

function resetCounts(tally: Tally): void {
  tally.raised = 0
  tally.reported = 0
  for (const rescue of tally.rescues.values()) rescue.count = 0
}
