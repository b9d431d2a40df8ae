interface Entry<T> {
  value: Promise<T>
  expiresAt: number
}

/** Caches results of slow lookups. Concurrent lookups of one key share a promise. */
export class AsyncCache<T> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** Returns the cached value or calls `load`. `ttlMs` depends on the value. Rejections are not cached. */
  get(key: string, now: () => number, ttlMs: (value: T) => number, load: () => Promise<T>): Promise<T> {
    const existing = this.#entries.get(key)
    if (existing && existing.expiresAt > now()) return existing.value
    const entry: Entry<T> = { value: load(), expiresAt: Number.POSITIVE_INFINITY }
    this.#entries.delete(key)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#maxEntries) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, entry)
    entry.value.then(
      (value) => {
        entry.expiresAt = now() + ttlMs(value)
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key)
      },
    )
    return entry.value
  }
}
