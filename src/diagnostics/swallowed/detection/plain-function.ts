import { types } from 'node:util'

const known = new WeakMap<object, boolean>()

/**
 * Whether another function can stand in for it without anybody's seeing the difference: a class, or one that carries
 * properties of its own, may be looked at rather than called. Looked at once, as it is met.
 */
export function isPlainFunction(value: unknown): value is (...values: unknown[]) => unknown {
  if (typeof value !== 'function') return false
  let is_plain = known.get(value)
  if (is_plain === undefined) {
    is_plain = !types.isProxy(value) && Reflect.ownKeys(value).every((key) => USUAL.has(key)) && !makesObjects(value)
    known.set(value, is_plain)
  }
  return is_plain
}

const USUAL: ReadonlySet<string | symbol> = new Set(['length', 'name', 'arguments', 'caller', 'prototype'])

/** A class, whose prototype is fixed, or a function that has methods for what it makes. */
function makesObjects(value: object): boolean {
  const prototype = Object.getOwnPropertyDescriptor(value, 'prototype')
  if (!prototype) return false
  return !prototype.writable || types.isProxy(prototype.value) || Reflect.ownKeys(Object(prototype.value)).length > 1
}
