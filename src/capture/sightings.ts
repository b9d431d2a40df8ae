/**
 * Which error objects were recorded, and in which request a hook met them. Several hooks see one throw: a router's
 * middleware, the application's, a call of LogError before the error is thrown on. An object that comes again in
 * another request is another throw of it.
 */
export class Sightings {
  readonly #requests = new WeakMap<object, object>()

  /** LogError was called with it; a hook that meets it next knows that it is recorded. */
  logged(error: unknown): void {
    if (isObject(error)) this.#requests.set(error, ANY_REQUEST)
  }

  /** Whether a hook meets the error for the first time in this request. */
  isNew(error: unknown, request: object): boolean {
    if (!isObject(error)) return true
    const seen = this.#requests.get(error)
    this.#requests.set(error, request)
    return seen !== ANY_REQUEST && seen !== request
  }
}

const ANY_REQUEST = {}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
