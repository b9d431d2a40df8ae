import { redactUrls } from './address.js'
import { formatValues } from './plain.js'
import { attempt } from './quietly.js'

/** Description of a thrown value. */
export interface Thrown {
  error_type: string
  message: string
  stack: string
}

/**
 * Reads any thrown value with its causes, in lines that the endpoint can parse. `fallbackFrame` replaces a
 * missing stack.
 */
export function describeThrown(value: unknown, fallbackFrame = '', depth = 3): Thrown {
  // A getter can throw or return anything.
  const readText = (name: string) => {
    const property = attempt(() => (value as Record<string, unknown>)[name])
    return typeof property === 'string' ? property : ''
  }
  const message = readText('message') || formatValues([value])
  // A long message would push the frames beyond the limit.
  let stack = readText('stack').replace(`: ${message}\n`, '\n')
  stack = redactUrls(`\n${/:\d/.test(stack) ? stack.slice(0, 5000) : fallbackFrame}`)
  const add = (label: string, cause: unknown) => {
    if (cause == null || !depth) return
    const inner = describeThrown(cause, '', depth - 1)
    stack += `\n${label}: ${inner.error_type}: ${inner.message}${inner.stack}`
  }
  attempt(() => {
    ;(value as AggregateError).errors.slice(0, 4).forEach((item) => {
      add('Suppressed', item)
    })
  })
  attempt(() => add('Caused by', (value as Error).cause))
  return {
    // A class that does not set its name is reported as Error: its name in the bundle changes with every build.
    error_type: readText('name') || typeof value,
    message: redactUrls(message.slice(0, 2000)),
    stack,
  }
}
