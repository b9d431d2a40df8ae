import { isObject } from '../../../../capture/values/is-object.js'
import type { Rescues, Tally } from './tallies.js'

/** State of an error until the error is garbage-collected. */
export interface Sighting {
  tally: Tally
  /** Location of the marked `throw`, or null if the error was first seen in a handler. */
  thrownAt: string | null
  /** Rescue to revoke if the error is rethrown or reported. */
  rescue: Rescues | null
  isReported: boolean
}

const MAX_PRIMITIVES = 100
const MAX_STRING_LENGTH = 200

/** Errors seen so far, by identity. Holds no strong reference to an error object. */
export class SeenErrors {
  readonly #objects = new WeakMap<object, Sighting>()
  /** Thrown primitives have no identity: equal values share the newest sighting. */
  readonly #primitives = new Map<unknown, Sighting>()

  get(error: unknown): Sighting | undefined {
    return isObject(error) ? this.#objects.get(error) : this.#primitives.get(error)
  }

  set(error: unknown, sighting: Sighting): void {
    if (isObject(error)) this.#objects.set(error, sighting)
    else if (typeof error !== 'string' || error.length <= MAX_STRING_LENGTH) this.#setPrimitive(error, sighting)
  }

  #setPrimitive(value: unknown, sighting: Sighting): void {
    this.#primitives.delete(value)
    this.#primitives.set(value, sighting)
    if (this.#primitives.size <= MAX_PRIMITIVES) return
    const [oldest] = this.#primitives.keys()
    this.#primitives.delete(oldest)
  }
}
