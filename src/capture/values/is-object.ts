/** Whether a value has an identity of its own, by which it can be known again. */
export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
