import { types } from 'node:util'
import { FILTERED, type Redactor } from '../model/redaction.js'
import { cleanText } from '../model/text.js'

export interface PlainLimits {
  depth: number
  keys: number
  items: number
  string: number
  /** Values of all kinds together, and characters of all texts; what is beyond is left out. */
  values: number
  characters: number
}

export const PARAMETER_LIMITS: PlainLimits = {
  depth: 6,
  keys: 100,
  items: 100,
  string: 2000,
  values: 1000,
  characters: 50_000,
}

/**
 * Any value of the host as plain, bounded, redacted data. Nothing of the host runs: getters are not called, Proxies not
 * touched, `toJSON` and custom inspection not asked.
 */
export function plainData(value: unknown, redactor: Redactor, limits: PlainLimits = PARAMETER_LIMITS): unknown {
  return new Copier(redactor, limits).copy(value, 0)
}

class Copier {
  readonly #redactor: Redactor
  readonly #limits: PlainLimits
  readonly #path = new Set<object>()
  #left: number
  #characters: number

  constructor(redactor: Redactor, limits: PlainLimits) {
    this.#redactor = redactor
    this.#limits = limits
    this.#left = limits.values
    this.#characters = limits.characters
  }

  copy(value: unknown, depth: number): unknown {
    if (--this.#left < 0) return '[…]'
    switch (typeof value) {
      case 'string':
        return this.#text(value)
      case 'number':
        return this.#copyNumber(value)
      case 'boolean':
        return value
      case 'bigint':
      case 'symbol':
        return this.#text(String(value))
      case 'function':
        return '[Function]'
      case 'undefined':
        return null
      default:
        return value === null ? null : this.#copyObject(value as object, depth)
    }
  }

  /** The text is cut after the filter, which could not tell half of a secret. */
  #text(text: string): string {
    const room = Math.max(0, Math.min(this.#limits.string, this.#characters))
    const plain = cleanText(this.#redactor.text(cleanText(text, this.#limits.string * 2)), room)
    this.#characters -= plain.length
    return plain
  }

  #copyNumber(value: number): unknown {
    if (!Number.isFinite(value)) return String(value)
    // A card number may come as a number too.
    const text = String(value)
    return text.length > 12 && this.#redactor.text(text) !== text ? FILTERED : value
  }

  #copyObject(value: object, depth: number): unknown {
    if (types.isProxy(value)) return '[Proxy]'
    if (this.#path.has(value)) return '[Circular]'
    this.#path.add(value)
    try {
      return this.#copyLeaf(value) ?? this.#copyNode(value, depth)
    } catch {
      // An exotic object of the host may throw from anything that looks at it.
      return '[unreadable]'
    } finally {
      this.#path.delete(value)
    }
  }

  #copyLeaf(value: object): string | undefined {
    if (types.isDate(value)) return dateText(value)
    if (types.isRegExp(value)) return this.#text(RegExp.prototype.toString.call(value))
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`
    if (types.isPromise(value)) return '[Promise]'
    if (types.isNativeError(value)) return this.#copyError(value)
    return undefined
  }

  #copyNode(value: object, depth: number): unknown {
    if (depth >= this.#limits.depth) return Array.isArray(value) ? '[Array]' : '[Object]'
    if (Array.isArray(value)) return this.#copyArray(value, depth)
    if (types.isMap(value)) return this.#copyMap(value, depth)
    if (types.isSet(value)) {
      return this.#copyArray([...takeFirst(Set.prototype.values.call(value), this.#limits.items)], depth)
    }
    return this.#copyKeys(value, depth)
  }

  #copyArray(array: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = []
    for (let i = 0; i < Math.min(array.length, this.#limits.items); i++)
      copy.push(this.#copyProperty(array, String(i), depth))
    if (array.length > this.#limits.items) copy.push(`[${array.length - this.#limits.items} more]`)
    return copy
  }

  #copyMap(map: ReadonlyMap<unknown, unknown>, depth: number): object {
    const copy = {}
    for (const [key, value] of takeFirst(Map.prototype.entries.call(map), this.#limits.keys)) {
      const name = typeof key === 'string' ? key : String(this.copy(key, depth + 1))
      define(copy, this.#key(name), this.#redactor.isSensitiveKey(name) ? FILTERED : this.copy(value, depth + 1))
    }
    return copy
  }

  #copyError(error: Error): string {
    const name = Object.getOwnPropertyDescriptor(error, 'name')?.value ?? error.constructor?.name ?? 'Error'
    const message = Object.getOwnPropertyDescriptor(error, 'message')?.value ?? ''
    return this.#text(`${name}: ${message}`)
  }

  #copyKeys(object: object, depth: number): object {
    const copy = {}
    let count = 0
    for (const key in object) {
      if (!Object.hasOwn(object, key)) continue
      if (count++ >= this.#limits.keys || this.#left <= 0) {
        define(copy, '…', 'more keys')
        break
      }
      define(
        copy,
        this.#key(key),
        this.#redactor.isSensitiveKey(key) ? FILTERED : this.#copyProperty(object, key, depth),
      )
    }
    return copy
  }

  /** A body parsed in the wrong way stands as one key, secrets and all. */
  #key(key: string): string {
    const plain = cleanText(this.#redactor.text(cleanText(key, KEY_LIMIT * 2)), KEY_LIMIT)
    this.#characters -= plain.length
    return plain
  }

  #copyProperty(object: object, key: string, depth: number): unknown {
    const property = Object.getOwnPropertyDescriptor(object, key)
    if (!property) return null
    return 'value' in property ? this.copy(property.value, depth + 1) : '[Getter]'
  }
}

const KEY_LIMIT = 200

/** Assignment would let a key named `__proto__` change the copy's prototype; for any other it is much faster. */
function define(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

function* takeFirst<T>(values: Iterable<T>, limit: number): Generator<T> {
  let taken = 0
  for (const value of values) {
    if (taken++ >= limit) return
    yield value
  }
}

function dateText(date: Date): string {
  return Number.isNaN(Date.prototype.getTime.call(date)) ? 'Invalid Date' : Date.prototype.toISOString.call(date)
}
