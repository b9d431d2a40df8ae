import { types } from 'node:util'
import { typeName } from '../thrown-value.js'

const MOST_CAUSES = 20
const MOST_AGGREGATED = 10

/** What an error was caused by, at any depth, and the errors it gathers. */
export function behind(value: unknown): unknown[] {
  if (isReadable(value) && read(value, 'cause') === undefined && read(value, 'errors') === undefined) {
    if (read(value, 'suppressed') === undefined) return NOTHING
  }
  const found: unknown[] = []
  const waiting: unknown[] = [value]
  for (let next = waiting.pop(); found.length < MOST_CAUSES && isReadable(next); next = waiting.pop()) {
    const errors = read(next, 'errors')
    const suppressed = read(next, 'suppressed')
    const causes = [
      ...(!types.isProxy(errors) && Array.isArray(errors) ? errors.slice(0, MOST_AGGREGATED) : []),
      ...(suppressed === undefined ? [] : [suppressed, read(next, 'error')]),
      read(next, 'cause'),
    ].filter((cause) => isReadable(cause) && cause !== value && !found.includes(cause))
    found.push(...causes)
    waiting.push(...causes)
  }
  return found
}

const NOTHING: unknown[] = []
const known = new WeakMap<object, string>()

/** The type as it is recorded. Most errors of a class have it from their class, and it is looked up once. */
export function typeOf(value: unknown): string {
  const shape = isReadable(value) && !Object.hasOwn(value, 'name') ? Object.getPrototypeOf(value) : null
  if (shape === null) return typeName(value)
  let type = known.get(shape)
  if (type === undefined) {
    type = typeName(value)
    known.set(shape, type)
  }
  return type
}

export function codeOf(value: unknown): unknown {
  return isReadable(value) ? read(value, 'code') : undefined
}

function isReadable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !types.isProxy(value)
}

function read(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key]
  } catch {
    // A getter of the host threw: there is nothing to know.
    return undefined
  }
}
