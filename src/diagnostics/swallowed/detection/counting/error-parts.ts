import { types } from 'node:util'
import { typeName } from '../../../../capture/values/thrown-value.js'

const MAX_CAUSES = 20
const MAX_AGGREGATED_ERRORS = 10

/** Returns the causes of an error at any depth, including aggregated and suppressed errors. */
export function collectCauses(error: unknown): readonly unknown[] {
  const found: unknown[] = []
  const pending: unknown[] = [error]
  for (let next = pending.pop(); found.length < MAX_CAUSES && isReadable(next); next = pending.pop()) {
    for (const cause of directCauses(next)) {
      if (!isReadable(cause) || cause === error || found.includes(cause)) continue
      found.push(cause)
      pending.push(cause)
    }
  }
  return found
}

function directCauses(error: object): unknown[] {
  const causes: unknown[] = []
  const errors = ownData(error, 'errors')
  if (!types.isProxy(errors) && Array.isArray(errors)) {
    for (let i = 0; i < Math.min(errors.length, MAX_AGGREGATED_ERRORS); i++) causes.push(ownData(errors, i))
  }
  const suppressed = ownData(error, 'suppressed')
  if (suppressed !== undefined) causes.push(suppressed, ownData(error, 'error'))
  causes.push(ownData(error, 'cause'))
  return causes
}

const typesByPrototype = new WeakMap<object, string>()

/** Returns the recorded error type. Cached by prototype, because most errors inherit their name from their class. */
export function errorType(error: unknown): string {
  if (!isReadable(error)) return typeName(error)
  const prototype: object | null = Object.getPrototypeOf(error)
  if (prototype === null) return 'Object'
  const hasOwnName = Object.hasOwn(error, 'name') || Object.hasOwn(error, 'constructor')
  if (hasOwnName && !hasNameGetter(error)) return typeName(error)
  let type = typesByPrototype.get(prototype)
  if (type === undefined) {
    type = typeName(hasOwnName ? Object.create(prototype) : error)
    typesByPrototype.set(prototype, type)
  }
  return type
}

export function errorCode(error: unknown): unknown {
  return isReadable(error) ? ownData(error, 'code') : undefined
}

/** Reads an own property without running getters, which are host code. */
export function ownData(object: object, key: string | number): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value
}

function hasNameGetter(object: object): boolean {
  return ['name', 'constructor'].some((key) => Object.getOwnPropertyDescriptor(object, key)?.get)
}

function isReadable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !types.isProxy(value)
}
