import { runQuietly } from './quietly.js'

/** Restores the original. */
export type Undo = () => void

/** Runs before a call. Its return value receives the result and can replace it. */
type Hook = (self: never, args: never) => undefined | ((result: never) => unknown)

/**
 * Observes the calls of a page function. A Proxy keeps its name, length, properties, `this`, arguments, result and
 * errors.
 */
export function wrap<Name extends string>(owner: Partial<Record<Name, unknown>>, name: Name, hook: Hook): Undo {
  const original = owner[name] as (...args: unknown[]) => unknown
  const proxy = new Proxy(original, {
    apply(target, self, args) {
      const onResult = runQuietly(() => hook(self as never, args as never))
      const result = Reflect.apply(target, self, args)
      return (onResult && runQuietly(() => onResult(result as never))) || result
    },
  })
  owner[name] = proxy
  return () => {
    // Keeps a wrapper that was added later by other code.
    if (owner[name] === proxy) owner[name] = original
  }
}
