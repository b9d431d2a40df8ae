/**
 * Which thrown values were recorded, and in which request a hook met them. Several hooks see one throw: a router's
 * middleware, the application's, a log entry before the error is thrown on, the end of the process. An object that comes
 * again in another request is another throw of it.
 */
export class Sightings {
  readonly #requests = new WeakMap<object, object>()
  /** What is no object (a string that was thrown) is remembered with the request it was thrown in. */
  readonly #values = new WeakMap<object, Set<unknown>>()

  /** It was reported by name; whoever meets it next knows that it is recorded. */
  logged(error: unknown): void {
    if (isObject(error)) this.#requests.set(error, ANY_REQUEST)
  }

  /** Whether a hook meets the error for the first time in this request; without a request, for the first time at all. */
  isNew(error: unknown, request: object | null): boolean {
    if (!isObject(error)) return request === null || this.#isNewValue(error, request)
    const seen = this.#requests.get(error)
    this.#requests.set(error, request ?? ANY_REQUEST)
    if (seen === undefined) return true
    return request !== null && seen !== ANY_REQUEST && seen !== request
  }

  #isNewValue(value: unknown, request: object): boolean {
    const values = this.#values.get(request)
    if (!values) this.#values.set(request, new Set([value]))
    else if (values.has(value)) return false
    else values.add(value)
    return true
  }
}

const ANY_REQUEST = {}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
