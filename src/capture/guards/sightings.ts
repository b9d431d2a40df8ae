import { isObject } from '../values/is-object.js'

/**
 * Recorded values and the requests in which hooks saw each value. Several hooks see one throw: router middleware,
 * application middleware, a log entry before a rethrow, the end of the process. An object seen in another request is a
 * new throw.
 */
export class Sightings {
  readonly #requests = new WeakMap<object, object>()
  /** Primitive values (a thrown string) are tracked per request. */
  readonly #values = new WeakMap<object, Set<unknown>>()
  readonly #recentValues = new Map<unknown, number>()

  /** Checks whether the error is new in this request. Without a request, checks whether it is new overall. */
  isNew(error: unknown, request: object | null): boolean {
    if (!isObject(error)) return request ? !this.#values.get(request)?.has(error) : !this.#consumeRecentValue(error)
    const seenRequest = this.#requests.get(error)
    if (seenRequest === undefined) return true
    if (request !== null && seenRequest !== ANY_REQUEST && seenRequest !== request) return true
    this.#requests.set(error, request ?? ANY_REQUEST)
    return false
  }

  /** Marks an error as recorded. Called after the error is described, so that a failed error can be reported again. */
  markRecorded(error: unknown, request: object | null): void {
    if (isObject(error)) this.#requests.set(error, request ?? ANY_REQUEST)
    else if (request) this.#rememberValue(error, request)
  }

  #rememberValue(value: unknown, request: object): void {
    const values = this.#values.get(request)
    if (values) values.add(value)
    else this.#values.set(request, new Set([value]))
    this.#rememberUntilNextTurn(value)
  }

  /** Keeps a primitive value for one event loop turn, in which a process hook may receive the same value. */
  #rememberUntilNextTurn(value: unknown): void {
    if (this.#recentValues.size === 0) setImmediate(() => this.#recentValues.clear())
    this.#recentValues.set(value, (this.#recentValues.get(value) ?? 0) + 1)
  }

  /** Consumes one recent value per call, because two requests can throw the same string in one turn. */
  #consumeRecentValue(value: unknown): boolean {
    const count = this.#recentValues.get(value) ?? 0
    if (count > 0) this.#recentValues.set(value, count - 1)
    return count > 0
  }
}

const ANY_REQUEST = {}
