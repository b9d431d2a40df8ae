import { types } from 'node:util'

/** What is told in a few words, whatever it holds; null for what is described by its parts. */
export function leafText(value: object): string | null {
  if (value === globalThis) return '[globalThis]'
  // It holds the secrets of the whole process, under names of the operator's choice.
  if (value === process.env) return '[process.env]'
  if (value === process) return '[process]'
  if (types.isDate(value)) return dateText(value)
  if (types.isRegExp(value)) return RegExp.prototype.toString.call(value)
  if (types.isNativeError(value)) return errorText(value)
  if (ArrayBuffer.isView(value)) return `[${className(value)}, ${byteLength(value)} bytes]`
  if (types.isAnyArrayBuffer(value)) return `[ArrayBuffer, ${bufferLength(value)} bytes]`
  if (types.isBoxedPrimitive(value)) return boxedText(value)
  return OPAQUE.find(([isKind]) => isKind(value))?.[1] ?? null
}

/** What cannot be looked into, or tells nothing to who does. */
const OPAQUE: readonly (readonly [(value: object) => boolean, string])[] = [
  [types.isPromise, '[Promise]'],
  [types.isGeneratorObject, '[Generator]'],
  [types.isWeakMap, '[WeakMap]'],
  [types.isWeakSet, '[WeakSet]'],
  [types.isModuleNamespaceObject, '[Module]'],
  [types.isExternal, '[External]'],
]

/** What the class of an object is called, found without calling anything of the host's. */
export function className(value: object): string {
  let prototype: unknown = Object.getPrototypeOf(value)
  for (let level = 0; level < PROTOTYPES && typeof prototype === 'object' && prototype !== null; level++) {
    if (types.isProxy(prototype)) break
    const maker = ownValue(prototype, 'constructor')
    const name = typeof maker === 'function' && !types.isProxy(maker) ? ownValue(maker, 'name') : undefined
    if (typeof name === 'string' && name !== '') return name
    prototype = Object.getPrototypeOf(prototype)
  }
  return 'Object'
}

/** So far up an object without a class of its own, as Express makes them, is asked for one. */
const PROTOTYPES = 4

export function functionText(value: object): string {
  if (types.isProxy(value)) return '[Proxy]'
  const name = ownValue(value, 'name')
  const kind = isClass(value) ? 'class' : 'Function'
  return typeof name === 'string' && name !== '' ? `[${kind} ${name}]` : `[${kind}]`
}

/** The value of an own property that has one, and undefined for a getter, which is not called. */
export function ownValue(object: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value
}

/** The prototype of a class cannot be replaced; that of a function can, and an arrow function has none. */
function isClass(value: object): boolean {
  return Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false
}

function dateText(date: Date): string {
  return Number.isNaN(Date.prototype.getTime.call(date)) ? 'Invalid Date' : Date.prototype.toISOString.call(date)
}

function errorText(error: Error): string {
  const name = ownValue(error, 'name')
  const message = ownValue(error, 'message')
  const kind = typeof name === 'string' ? name : className(error)
  return typeof message === 'string' && message !== '' ? `${kind}: ${message}` : kind
}

function byteLength(view: ArrayBufferView): number {
  return lengthBy(types.isDataView(view) ? DataView.prototype : Object.getPrototypeOf(Uint8Array.prototype), view)
}

function bufferLength(buffer: ArrayBufferLike): number {
  return lengthBy(types.isSharedArrayBuffer(buffer) ? SharedArrayBuffer.prototype : ArrayBuffer.prototype, buffer)
}

/** Asked of the prototype, because a class of the host's may have a getter of that name. */
function lengthBy(prototype: object, value: object): number {
  return Number(Object.getOwnPropertyDescriptor(prototype, 'byteLength')?.get?.call(value))
}

function boxedText(value: object): string {
  for (const [isKind, kind] of BOXES) if (isKind(value)) return String(kind.prototype.valueOf.call(value))
  return '[boxed]'
}

const BOXES: readonly (readonly [(value: object) => boolean, { prototype: { valueOf(): unknown } }])[] = [
  [types.isStringObject, String],
  [types.isNumberObject, Number],
  [types.isBooleanObject, Boolean],
  [types.isBigIntObject, BigInt],
  [types.isSymbolObject, Symbol],
]
