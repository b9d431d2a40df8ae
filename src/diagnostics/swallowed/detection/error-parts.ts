import { types } from 'node:util'
import { typeName } from '../../../capture/values/thrown-value.js'

const MOST_CAUSES = 20
const MOST_AGGREGATED = 10

/** What an error was caused by, at any depth, and the errors it gathers. */
export function behind(value: unknown): readonly unknown[] {
  const found: unknown[] = []
  const waiting: unknown[] = [value]
  for (let next = waiting.pop(); found.length < MOST_CAUSES && isReadable(next); next = waiting.pop()) {
    for (const cause of rightBehind(next)) {
      if (!isReadable(cause) || cause === value || found.includes(cause)) continue
      found.push(cause)
      waiting.push(cause)
    }
  }
  return found
}

function rightBehind(error: object): unknown[] {
  const causes: unknown[] = []
  const errors = ownData(error, 'errors')
  if (!types.isProxy(errors) && Array.isArray(errors)) {
    for (let i = 0; i < Math.min(errors.length, MOST_AGGREGATED); i++) causes.push(ownData(errors, i))
  }
  const suppressed = ownData(error, 'suppressed')
  if (suppressed !== undefined) causes.push(suppressed, ownData(error, 'error'))
  causes.push(ownData(error, 'cause'))
  return causes
}

const known = new WeakMap<object, string>()

/** The type as it is recorded. Most errors of a class have it from their class, and it is looked up once. */
export function typeOf(value: unknown): string {
  if (!isReadable(value)) return typeName(value)
  const shape: object | null = Object.getPrototypeOf(value)
  if (shape === null) return 'Object'
  const is_own = Object.hasOwn(value, 'name') || Object.hasOwn(value, 'constructor')
  if (is_own && !hasGetter(value)) return typeName(value)
  let type = known.get(shape)
  if (type === undefined) {
    type = typeName(is_own ? Object.create(shape) : value)
    known.set(shape, type)
  }
  return type
}

export function codeOf(value: unknown): unknown {
  return isReadable(value) ? ownData(value, 'code') : undefined
}

/** What an object has itself. A getter is code of the host, and is not run. */
export function ownData(object: object, key: string | number): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value
}

function hasGetter(object: object): boolean {
  return ['name', 'constructor'].some((key) => Object.getOwnPropertyDescriptor(object, key)?.get)
}

function isReadable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !types.isProxy(value)
}
