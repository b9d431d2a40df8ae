import type { Dialect } from '../dialect.js'

/** Rows of one database that this process has written or read. Writing them again needs no statement. */
interface StoredCache {
  /** Rows that nearly every batch repeats, each with the earliest time that it contains, if any. */
  rows: Map<string, number>
  /** Digest of the stored backtrace that an error shows, by error id. */
  backtraces: Map<number, string>
  /**
   * Search texts added since the last trim, by error id. An error without an entry was never trimmed by this process.
   */
  untrimmed: Map<number, number>
  /** Searchable values of requests, by error id. */
  requests: Map<number, RequestValues>
}

export interface RequestValues {
  urls: Set<string>
  /** Values by name of the tag. */
  tags: Map<string, Set<string>>
}

const MAX_ENTRIES = 5000

const caches = new WeakMap<Dialect, StoredCache>()

export function storedCache(dialect: Dialect): StoredCache {
  const cache = caches.get(dialect) ?? createCache()
  caches.set(dialect, cache)
  for (const entries of Object.values(cache)) if (entries.size >= MAX_ENTRIES) entries.clear()
  return cache
}

function createCache(): StoredCache {
  return { rows: new Map(), backtraces: new Map(), untrimmed: new Map(), requests: new Map() }
}

/** Call when a different database may respond, such as a restored backup. */
export function forgetStored(dialect: Dialect): void {
  caches.delete(dialect)
}

/** Rows that one transaction repeats or adds. They enter the cache after the commit. */
export class RepeatedRows {
  readonly #stored: StoredCache['rows']
  readonly #written: [key: string, time: number][] = []

  constructor(dialect: Dialect) {
    this.#stored = storedCache(dialect).rows
  }

  /** Returns true if the row is stored with this time or an earlier one. */
  has(key: string, time = 0): boolean {
    const stored = this.#stored.get(key)
    return stored !== undefined && stored <= time
  }

  /** Call for each row that the transaction has written or found. */
  add(key: string, time = 0): void {
    this.#written.push([key, time])
  }

  commit(): void {
    for (const [key, time] of this.#written) this.#stored.set(key, time)
  }
}
