import { withoutQueries } from './address.js'
import { printed } from './plain.js'
import { attempt } from './quietly.js'

/** Description of a thrown value. */
export interface Thrown {
  error_type: string
  message: string
  stack: string
}

/**
 * Reads any thrown value with its causes, in lines that the endpoint can parse. `place` is the fallback for a missing
 * stack.
 */
export function describe(value: unknown, place = '', depth = 3): Thrown {
  // A getter can throw or return anything.
  const text = (name: string) => {
    const found = attempt(() => (value as Record<string, unknown>)[name])
    return typeof found === 'string' ? found : ''
  }
  const said = text('message') || printed([value])
  // A long message would push the frames beyond the limit.
  let stack = text('stack').replace(`: ${said}\n`, '\n')
  stack = withoutQueries(`\n${/:\d/.test(stack) ? stack.slice(0, 5000) : place}`)
  const add = (word: string, behind: unknown) => {
    if (behind == null || !depth) return
    const inner = describe(behind, '', depth - 1)
    stack += `\n${word}: ${inner.error_type}: ${inner.message}${inner.stack}`
  }
  attempt(() => {
    ;(value as AggregateError).errors.slice(0, 4).forEach((one) => {
      add('Suppressed', one)
    })
  })
  attempt(() => add('Caused by', (value as Error).cause))
  return {
    // A class that does not set its name is reported as Error: its name in the bundle changes with every build.
    error_type: text('name') || typeof value,
    message: withoutQueries(said.slice(0, 2000)),
    stack,
  }
}
