import type { Counters } from '../model/counters.js'

/**
 * A listener of ours on something of the host's. What fails in it is counted and goes no further: thrown from a
 * diagnostics channel or an emitter it would end the host's process.
 */
export function guarded<Arguments extends unknown[]>(
  counters: Counters,
  what: string,
  listener: (...args: Arguments) => void,
): (...args: Arguments) => void {
  return (...args) => {
    try {
      listener(...args)
    } catch {
      try {
        counters.add(`failed: ${what}`)
      } catch {
        // Overflow: Node.js would turn an error thrown from a channel into an uncaught exception.
      }
    }
  }
}
