import { quietly } from './quietly.js'

/** Puts something back as it was. */
export type Undo = () => void

/** Sees a call before it happens; what it gives sees the result, and may give another in its place. */
type Hook = (self: never, args: never) => undefined | ((result: never) => unknown)

/**
 * Looks at the calls of a function of the page. A Proxy keeps its name, length, properties, `this`, arguments, result and
 * what it throws.
 */
export function wrap<Name extends string>(owner: Partial<Record<Name, unknown>>, name: Name, hook: Hook): Undo {
  const original = owner[name] as (...args: unknown[]) => unknown
  const proxy = new Proxy(original, {
    apply(target, self, args) {
      const after = quietly(() => hook(self as never, args as never))
      const result = Reflect.apply(target, self, args)
      return (after && quietly(() => after(result as never))) || result
    },
  })
  owner[name] = proxy
  return () => {
    // Somebody who has wrapped it after us keeps what he has.
    if (owner[name] === proxy) owner[name] = original
  }
}
