import { isObject } from '../../capture/values/is-object.js'

interface Kept<T> {
  what: T
  place: string
  is_taken: boolean
}

/** A value that is no object is only known by its looks: this long after it was thrown, it is taken for the same. */
const SAME_VALUE_MS = 50

/** What is known of thrown values, for as long as the host keeps them. */
export class Thrown<T> {
  readonly #objects = new WeakMap<object, Kept<T>>()
  #last: { value: unknown; what: T; until: number } | null = null

  /**
   * An object that is thrown on has its first place; one that was logged, or is thrown at the very same place, is
   * thrown anew.
   */
  keep(value: unknown, place: string, make: () => T): void {
    if (!isObject(value)) {
      this.#last = { value, what: make(), until: performance.now() + SAME_VALUE_MS }
      return
    }
    const known = this.#objects.get(value)
    if (known && !known.is_taken && known.place !== place) return
    this.#objects.set(value, { what: make(), place, is_taken: false })
  }

  take(value: unknown): T | null {
    if (isObject(value)) {
      const known = this.#objects.get(value)
      if (known) known.is_taken = true
      return known?.what ?? null
    }
    const last = this.#last
    return last && Object.is(last.value, value) && performance.now() <= last.until ? last.what : null
  }
}
