/** Checks whether a value has an identity and can be used as a WeakMap key. */
export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
