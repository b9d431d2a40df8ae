import { types } from 'node:util'
import { isSecretArgument } from '../../model/redaction/command-lines.js'
import { isValueOfPreviousItem, NAMED_MEMBER_KEYS, secretMembers } from '../../model/redaction/name-value-pairs.js'
import { FILTERED, type Redactor } from '../../model/redaction/redaction.js'
import { isSecretCode } from '../../model/redaction/secret-paths.js'
import { cleanText, OMITTED_KEYS } from '../../model/text.js'

export interface PlainLimits {
  depth: number
  keys: number
  items: number
  string: number
  /** Total limits for values and characters. Anything beyond is omitted. */
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
 * Copies any host value as plain, bounded, redacted data. Runs no host code: getters, Proxies, `toJSON` and custom
 * inspection are not called.
 */
export function plainData(value: unknown, redactor: Redactor, limits: PlainLimits = PARAMETER_LIMITS): unknown {
  return new Copier(redactor, limits).copy(value, 0)
}

class Copier {
  readonly #redactor: Redactor
  readonly #limits: PlainLimits
  readonly #path = new Set<object>()
  #remainingValues: number
  #remainingCharacters: number

  constructor(redactor: Redactor, limits: PlainLimits) {
    this.#redactor = redactor
    this.#limits = limits
    this.#remainingValues = limits.values
    this.#remainingCharacters = limits.characters
  }

  copy(value: unknown, depth: number): unknown {
    if (--this.#remainingValues < 0) return OMITTED
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

  /**
   * Truncates after redaction, which does not recognize part of a secret. Omits text beyond the limit without redacting
   * it.
   */
  #text(text: string): string {
    const available = Math.min(this.#limits.string, this.#remainingCharacters)
    if (available < MIN_TEXT_LENGTH && text.length > available) return OMITTED
    const cleaned = cleanText(this.#redactor.text(cleanText(text, available * 2)), available)
    this.#remainingCharacters -= cleaned.length
    return cleaned
  }

  #copyNumber(value: number): unknown {
    if (!Number.isFinite(value)) return String(value)
    if (Math.abs(value) < SMALLEST_CARD_NUMBER) return value
    const text = String(value)
    return this.#redactor.text(text) === text ? value : FILTERED
  }

  #copyObject(value: object, depth: number): unknown {
    if (types.isProxy(value)) return '[Proxy]'
    if (this.#path.has(value)) return '[Circular]'
    this.#path.add(value)
    try {
      return this.#copyLeaf(value) ?? this.#copyNode(value, depth)
    } catch {
      // An exotic host object can throw on any access.
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
    let previousItem: unknown
    for (let i = 0; i < Math.min(array.length, this.#limits.items); i++) {
      const item = Object.getOwnPropertyDescriptor(array, i)
      const isSecret =
        (typeof previousItem === 'string' &&
          isValueOfPreviousItem(previousItem, item?.value, this.#redactor.isSensitiveKey)) ||
        (i > 0 && isSecretArgument(copy[0], item?.value, this.#redactor.text))
      copy.push(isSecret ? FILTERED : this.#copyMember(item, depth))
      previousItem = item?.value
    }
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
    // Avoids for...in, which would also read the prototypes. A prototype can be a Proxy.
    const keys = Object.keys(object)
    const keyCount = Math.min(keys.length, this.#limits.keys)
    const secretKeys = this.#secretMembers(object, keys)
    let count = 0
    for (; count < keyCount && this.#remainingValues > 0; count++) {
      const key = keys[count] as string
      define(copy, this.#key(key), this.#copyNamed(object, key, secretKeys?.has(key) === true, depth))
    }
    if (keys.length > count) define(copy, OMITTED_KEYS, `${keys.length - count} more not stored`)
    return copy
  }

  /** Finds secrets in pairs such as `{ name: 'password', value: … }`, a common form for headers and form fields. */
  #secretMembers(object: object, keys: readonly string[]): ReadonlySet<string> | null {
    if (keys.length > MAX_PAIR_KEYS || !keys.some((key) => NAMED_MEMBER_KEYS.has(key))) return null
    return secretMembers((key) => Object.getOwnPropertyDescriptor(object, key)?.value, this.#redactor.isSensitiveKey)
  }

  #copyNamed(object: object, key: string, isFiltered: boolean, depth: number): unknown {
    if (isFiltered || this.#redactor.isSensitiveKey(key)) return FILTERED
    const property = Object.getOwnPropertyDescriptor(object, key)
    return isSecretCode(key, property?.value) ? FILTERED : this.#copyMember(property, depth)
  }

  /** Redacts keys too, because a body parsed with the wrong format becomes one key, secrets included. */
  #key(key: string): string {
    if (this.#remainingCharacters <= 0 && key.length > MIN_TEXT_LENGTH) return OMITTED
    const cleaned = cleanText(this.#redactor.text(cleanText(key, MAX_KEY_LENGTH * 2)), MAX_KEY_LENGTH)
    this.#remainingCharacters -= cleaned.length
    return cleaned
  }

  #copyMember(property: PropertyDescriptor | undefined, depth: number): unknown {
    if (!property) return null
    return 'value' in property ? this.copy(property.value, depth + 1) : '[Getter]'
  }
}

const OMITTED = '[…]'
const MAX_KEY_LENGTH = 200
/** A card number has at least 13 digits. */
const SMALLEST_CARD_NUMBER = 1e12
/** A shorter text could contain the start of a secret without its end. */
const MIN_TEXT_LENGTH = 64
/** Objects with more keys are records, not name-value pairs. */
const MAX_PAIR_KEYS = 12

/**
 * Assigns a key, which is faster than defining it. Defines `__proto__`, whose assignment would change the prototype.
 */
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
