import { types } from 'node:util'

/** Returns the text of an object that is not described by its properties, or null. */
export function leafText(value: object): string | null {
  if (value === globalThis) return '[globalThis]'
  // Contains secrets of the process under arbitrary names.
  if (value === process.env) return '[process.env]'
  if (value === process) return '[process]'
  if (types.isDate(value)) return dateText(value)
  if (types.isRegExp(value)) return RegExp.prototype.toString.call(value)
  if (types.isNativeError(value)) return errorText(value)
  if (ArrayBuffer.isView(value)) return `[${className(value)}, ${byteLength(value)} bytes]`
  if (types.isAnyArrayBuffer(value)) return `[ArrayBuffer, ${bufferLength(value)} bytes]`
  if (types.isBoxedPrimitive(value)) return boxedText(value)
  return OPAQUE_KINDS.find(([isKind]) => isKind(value))?.[1] ?? null
}

/** Objects without readable content. */
const OPAQUE_KINDS: readonly (readonly [(value: object) => boolean, string])[] = [
  [types.isPromise, '[Promise]'],
  [types.isGeneratorObject, '[Generator]'],
  [types.isWeakMap, '[WeakMap]'],
  [types.isWeakSet, '[WeakSet]'],
  [types.isModuleNamespaceObject, '[Module]'],
  [types.isExternal, '[External]'],
]

/** Returns the class name of an object without running host code. */
export function className(value: object): string {
  let prototype: unknown = Object.getPrototypeOf(value)
  for (let level = 0; level < MAX_PROTOTYPES && typeof prototype === 'object' && prototype !== null; level++) {
    if (types.isProxy(prototype)) break
    const classObject = ownValue(prototype, 'constructor')
    const name =
      typeof classObject === 'function' && !types.isProxy(classObject) ? ownValue(classObject, 'name') : undefined
    if (typeof name === 'string' && name !== '') return name
    prototype = Object.getPrototypeOf(prototype)
  }
  return 'Object'
}

/** Express objects have several prototypes without a constructor. */
const MAX_PROTOTYPES = 4

export function functionText(value: object): string {
  if (types.isProxy(value)) return '[Proxy]'
  const name = ownValue(value, 'name')
  const kind = isClass(value) ? 'class' : 'Function'
  return typeof name === 'string' && name !== '' ? `[${kind} ${name}]` : `[${kind}]`
}

/** Returns the value of an own property. Returns undefined for a getter without calling it. */
export function ownValue(object: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value
}

/** Only classes have a read-only prototype. */
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
  return builtInLength(types.isDataView(view) ? DataView.prototype : Object.getPrototypeOf(Uint8Array.prototype), view)
}

function bufferLength(buffer: ArrayBufferLike): number {
  return builtInLength(types.isSharedArrayBuffer(buffer) ? SharedArrayBuffer.prototype : ArrayBuffer.prototype, buffer)
}

/** Uses the built-in getter, because a subclass in the host can override `byteLength`. */
function builtInLength(prototype: object, value: object): number {
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
