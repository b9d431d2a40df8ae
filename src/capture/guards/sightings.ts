import { isObject } from '../values/is-object.js'

/**
 * Which thrown values were recorded, and in which request a hook met them. Several hooks see one throw: a router's
 * middleware, the application's, a log entry before the error is thrown on, the end of the process. An object that comes
 * again in another request is another throw of it.
 */
export class Sightings {
  readonly #requests = new WeakMap<object, object>()
  /** What is no object (a string that was thrown) is remembered with the request it was thrown in. */
  readonly #values = new WeakMap<object, Set<unknown>>()
  readonly #fresh = new Map<unknown, number>()

  /** Whether a hook sees the error for the first time in this request; without a request, for the first time at all. */
  isNew(error: unknown, request: object | null): boolean {
    if (!isObject(error)) return request ? !this.#values.get(request)?.has(error) : !this.#isAccountedFor(error)
    const seen = this.#requests.get(error)
    if (seen === undefined) return true
    if (request !== null && seen !== ANY_REQUEST && seen !== request) return true
    this.#requests.set(error, request ?? ANY_REQUEST)
    return false
  }

  /** Marks an error as recorded. Called after the error is described: one that fails there can be reported again. */
  recorded(error: unknown, request: object | null): void {
    if (isObject(error)) this.#requests.set(error, request ?? ANY_REQUEST)
    else if (request) this.#rememberValue(error, request)
  }

  #rememberValue(value: unknown, request: object): void {
    const values = this.#values.get(request)
    if (values) values.add(value)
    else this.#values.set(request, new Set([value]))
    this.#rememberForNow(value)
  }

  /** A hook of the process meets a text that a handler threw in the same turn of the event loop as that of the request. */
  #rememberForNow(value: unknown): void {
    if (this.#fresh.size === 0) setImmediate(() => this.#fresh.clear())
    this.#fresh.set(value, (this.#fresh.get(value) ?? 0) + 1)
  }

  /** Each one of a request accounts for one without: two requests may well throw the same text at once. */
  #isAccountedFor(value: unknown): boolean {
    const count = this.#fresh.get(value) ?? 0
    if (count > 0) this.#fresh.set(value, count - 1)
    return count > 0
  }
}

const ANY_REQUEST = {}
