import { withoutQueries } from './address.js'
import { printed } from './plain.js'

/** What is told of a thrown value. */
export interface Thrown {
  error_type: string
  message: string
  stack: string
}

/**
 * Reads whatever was thrown, with what is behind it in lines that the endpoint knows. `place` stands for a stack that
 * tells none.
 */
export function describe(value: unknown, place = '', depth = 3): Thrown {
  // A getter may throw, and what it gives may be anything.
  const get = <T>(name: string, isFit: (found: T) => unknown, otherwise: T): T => {
    try {
      const found = (value as Record<string, T>)[name] as T
      return isFit(found) ? found : otherwise
    } catch {
      return otherwise
    }
  }
  const text = (name: string) => get(name, (found) => typeof found === 'string', '')
  const said = text('message') || printed(value)
  // Behind a long message the frames would be cut off.
  let stack = text('stack').replace(`: ${said}\n`, '\n')
  stack = withoutQueries(`\n${/:\d/.test(stack) ? stack.slice(0, 5000) : place}`)
  const add = (word: string, behind: unknown) => {
    if (behind == null || !depth) return
    const inner = describe(behind, '', depth - 1)
    stack += `\n${word}: ${inner.error_type}: ${inner.message}${inner.stack}`
  }
  for (const error of get<unknown[]>('errors', Array.isArray, []).slice(0, 4)) add('Suppressed', error)
  add('Caused by', get('cause', Boolean, null))
  return {
    // A class that has not set its name says Error: what it is called in the bundle changes with every build.
    error_type: text('name') || typeof value,
    message: withoutQueries(said.slice(0, 2000)),
    stack,
  }
}
