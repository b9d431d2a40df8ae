import { isObject } from '../../../capture/values/is-object.js'
import type { Rescues, Tally } from './tally.js'

/** What is known of one error while it is alive. */
export interface Sighting {
  tally: Tally
  /** Where it was thrown, if that was seen. */
  thrown_at: string | null
  /** What would have to be taken back, should it turn out not to be swallowed. */
  rescue: Rescues | null
  reported: boolean
}

const VALUES = 100
const LONGEST_VALUE = 200

/** The errors that were seen, by their identity. Nothing holds on to one of them. */
export class SeenErrors {
  readonly #objects = new WeakMap<object, Sighting>()
  /** Of what is no object: the newest of those that were thrown under the same value. */
  readonly #values = new Map<unknown, Sighting>()

  get(error: unknown): Sighting | undefined {
    return isObject(error) ? this.#objects.get(error) : this.#values.get(error)
  }

  set(error: unknown, sighting: Sighting): void {
    if (isObject(error)) this.#objects.set(error, sighting)
    else if (typeof error !== 'string' || error.length <= LONGEST_VALUE) this.#setValue(error, sighting)
  }

  #setValue(value: unknown, sighting: Sighting): void {
    this.#values.delete(value)
    this.#values.set(value, sighting)
    if (this.#values.size <= VALUES) return
    const [oldest] = this.#values.keys()
    this.#values.delete(oldest)
  }
}
