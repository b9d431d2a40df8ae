interface Kept<T> {
  value: Promise<T>
  until: number
}

/** Answers that took a process or a disk to find, for a while. Who asks at the same time shares one asking. */
export class Memory<T> {
  readonly #kept = new Map<string, Kept<T>>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** `lasts` says for how many milliseconds an answer is as good as new; what rejects is forgotten at once. */
  get(key: string, now: () => number, lasts: (value: T) => number, find: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key)
    if (known && known.until > now()) return known.value
    const kept: Kept<T> = { value: find(), until: Number.POSITIVE_INFINITY }
    this.#kept.delete(key)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < this.#most) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(key, kept)
    kept.value.then(
      (value) => {
        kept.until = now() + lasts(value)
      },
      () => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key)
      },
    )
    return kept.value
  }
}
