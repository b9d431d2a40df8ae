import type { Counters } from '../model/counters.js'

/**
 * Wraps a listener on a host object. Failures are counted and swallowed: an error thrown from a diagnostics channel or
 * an emitter would end the host process.
 */
export function guarded<Arguments extends unknown[]>(
  counters: Counters,
  label: string,
  listener: (...args: Arguments) => void,
): (...args: Arguments) => void {
  return (...args) => {
    try {
      listener(...args)
    } catch {
      try {
        counters.add(`failed: ${label}`)
      } catch {
        // Stack overflow: Node.js would turn an error thrown from a channel into an uncaught exception.
      }
    }
  }
}
