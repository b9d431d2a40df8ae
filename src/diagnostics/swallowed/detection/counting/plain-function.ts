import { types } from 'node:util'

const cache = new WeakMap<object, boolean>()

/**
 * Checks that a wrapper can replace a function without a visible difference. Classes and functions with own properties
 * are excluded, because a library may inspect them instead of calling them.
 */
export function isPlainFunction(value: unknown): value is (...values: unknown[]) => unknown {
  if (typeof value !== 'function') return false
  let isPlain = cache.get(value)
  if (isPlain === undefined) {
    isPlain =
      !types.isProxy(value) && Reflect.ownKeys(value).every((key) => STANDARD_KEYS.has(key)) && !isConstructor(value)
    cache.set(value, isPlain)
  }
  return isPlain
}

const STANDARD_KEYS: ReadonlySet<string | symbol> = new Set(['length', 'name', 'arguments', 'caller', 'prototype'])

/** Detects a class, whose prototype is read-only, or a function with methods on its prototype. */
function isConstructor(value: object): boolean {
  const prototype = Object.getOwnPropertyDescriptor(value, 'prototype')
  if (!prototype) return false
  return !prototype.writable || types.isProxy(prototype.value) || Reflect.ownKeys(Object(prototype.value)).length > 1
}
