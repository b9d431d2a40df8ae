import { isObject } from '../../capture/values/is-object.js'

interface Entry<T> {
  data: T
  location: string
  isTaken: boolean
}

/**
 * Primitives have no identity. An equal value within this time counts as the same throw. On a busy machine, a process
 * may pause for 100 ms between a throw and its capture.
 */
const PRIMITIVE_MATCH_WINDOW_MS = 250

/** Data about thrown values. Entries of objects live as long as the objects. */
export class ThrownValues<T> {
  readonly #objects = new WeakMap<object, Entry<T>>()
  #lastPrimitive: { value: unknown; data: T; expiresAt: number } | null = null

  /**
   * Stores data about a throw. A rethrown object keeps the data of its first throw, until it is logged or thrown again at
   * the same location.
   */
  store(value: unknown, location: string, createData: () => T): void {
    if (!isObject(value)) {
      this.#lastPrimitive = { value, data: createData(), expiresAt: performance.now() + PRIMITIVE_MATCH_WINDOW_MS }
      return
    }
    const existing = this.#objects.get(value)
    if (existing && !existing.isTaken && existing.location !== location) return
    this.#objects.set(value, { data: createData(), location, isTaken: false })
  }

  take(value: unknown): T | null {
    if (isObject(value)) {
      const entry = this.#objects.get(value)
      if (entry) entry.isTaken = true
      return entry?.data ?? null
    }
    const last = this.#lastPrimitive
    return last && Object.is(last.value, value) && performance.now() <= last.expiresAt ? last.data : null
  }
}
