import { types } from 'node:util'
import { isSecretArgument } from '../../model/redaction/command-lines.js'
import { isValueOfPreviousItem, secretMembers } from '../../model/redaction/name-value-pairs.js'
import { FILTERED, type Redactor } from '../../model/redaction/redaction.js'
import { isSecretCode } from '../../model/redaction/secret-paths.js'
import { MORE_KEY, TYPE_KEY } from '../../model/stacks/frame-variables.js'
import { cleanText } from '../../model/text.js'
import { className, functionText, leafText, ownValue } from './value-text.js'

export interface ValueLimits {
  depth: number
  stringLength: number
  arrayItems: number
  objectKeys: number
}

/** Limits per variable, so that a large value such as `req` leaves room for other variables. */
const MAX_VALUES = 120
const MAX_CHARACTERS = 6000
/** Limit for all variables of an error. */
const MAX_TOTAL_CHARACTERS = 40_000
const MAX_KEY_LENGTH = 100
/** Password in a URL whose end is cut off. */
const TRUNCATED_PASSWORD = /(:\/\/[^\s/:@]*:)[^\s/@]*$/

/**
 * Converts values of the paused host to plain, bounded, redacted data. Runs no host code: skips getters and
 * proxies. Values without a JSON form become text in brackets, such as `[undefined]` or `[Function f]`.
 */
export class Describer {
  readonly #redactor: Redactor
  readonly #limits: ValueLimits
  readonly #path = new Set<object>()
  #valuesLeft = 0
  #charactersLeft = 0
  #totalCharactersLeft = MAX_TOTAL_CHARACTERS

  constructor(redactor: Redactor, limits: ValueLimits) {
    this.#redactor = redactor
    this.#limits = limits
  }

  /** Returns the names of values that are secret because a sibling contains a sensitive name. */
  secretMembers(lookUp: (name: string) => unknown): ReadonlySet<string> {
    return secretMembers(lookUp, this.#redactor.isSensitiveKey)
  }

  /** Describes one variable. A sensitive name filters its value. */
  variable(name: string, value: unknown): unknown {
    this.#resetLimits()
    return this.#namedValue(name, value, 0)
  }

  /** Describes the first own properties of an object, without methods. */
  properties(object: object, limit: number): Record<string, unknown> {
    if (types.isProxy(object)) return { [TYPE_KEY]: 'Proxy' }
    const copy: Record<string, unknown> = {}
    const name = className(object)
    if (name !== 'Object') copy[TYPE_KEY] = cleanText(name, MAX_KEY_LENGTH)
    const keys = Object.keys(object).filter((key) => typeof ownValue(object, key) !== 'function')
    const secretKeys = this.#secretMembers(object)
    for (const key of keys.slice(0, limit)) {
      this.#resetLimits()
      // Allows the same depth as for a local variable.
      define(copy, this.#key(key), secretKeys.has(key) ? FILTERED : this.#property(object, key, -1))
    }
    if (keys.length > limit) copy[MORE_KEY] = `${keys.length - limit} more`
    return copy
  }

  #resetLimits(): void {
    this.#valuesLeft = MAX_VALUES
    this.#charactersLeft = Math.min(MAX_CHARACTERS, this.#totalCharactersLeft)
  }

  #namedValue(name: string, value: unknown, depth: number): unknown {
    return this.#redactor.isSensitiveKey(name) || isSecretCode(name, value) ? FILTERED : this.#describe(value, depth)
  }

  #describe(value: unknown, depth: number): unknown {
    if (--this.#valuesLeft < 0 || this.#charactersLeft <= 0) return '[…]'
    switch (typeof value) {
      case 'string':
        return this.#text(value)
      case 'number':
        return this.#number(value)
      case 'boolean':
        return value
      case 'undefined':
        return '[undefined]'
      case 'bigint':
        return this.#text(`${value}n`)
      case 'symbol':
        return this.#text(String(value))
      case 'function':
        return this.#text(functionText(value))
      default:
        return value === null ? null : this.#object(value as object, depth)
    }
  }

  #number(value: number): unknown {
    if (Object.is(value, -0)) return '-0'
    if (!Number.isFinite(value)) return String(value)
    // Card numbers can be stored as numbers.
    const text = String(value)
    return text.length > 12 && this.#redactor.text(text) !== text ? FILTERED : value
  }

  /** Truncates after redaction, because the redactor does not recognize a truncated secret. */
  #text(text: string): string {
    const { stringLength } = this.#limits
    const inputLimit = stringLength * 2 + 100
    const start = cleanText(text, inputLimit)
    const input = text.length > inputLimit ? start.replace(TRUNCATED_PASSWORD, `$1${FILTERED}`) : start
    const plain = cleanText(this.#redactor.text(input), Math.min(stringLength, this.#charactersLeft))
    this.#charactersLeft -= plain.length
    this.#totalCharactersLeft -= plain.length
    return plain
  }

  #object(value: object, depth: number): unknown {
    if (types.isProxy(value)) return '[Proxy]'
    if (this.#path.has(value)) return '[Circular]'
    this.#path.add(value)
    try {
      const text = leafText(value)
      return text === null ? this.#container(value, depth) : this.#text(text)
    } catch {
      // Exotic objects can throw from any operation.
      return '[unreadable]'
    } finally {
      this.#path.delete(value)
    }
  }

  #container(value: object, depth: number): unknown {
    const isList = Array.isArray(value) || types.isArgumentsObject(value)
    if (depth >= this.#limits.depth) return isList ? '[Array]' : `[${this.#text(className(value))}]`
    if (isList) return this.#list(value as readonly unknown[], depth)
    if (types.isMap(value)) return this.#map(value, depth)
    if (types.isSet(value)) return this.#set(value, depth)
    return this.#plainObject(value, depth)
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const length = Number(ownValue(list, 'length'))
    const copy: unknown[] = []
    let previous: unknown
    for (let i = 0; i < Math.min(length, this.#limits.arrayItems); i++) {
      const item = Object.getOwnPropertyDescriptor(list, i)
      // Raw headers and command arguments alternate between names and values.
      const isFiltered =
        isValueOfPreviousItem(previous, item?.value, this.#redactor.isSensitiveKey) ||
        (i > 0 && isSecretArgument(copy[0], item?.value, this.#redactor.text))
      if (!item) copy.push('[empty]')
      else if (isFiltered) copy.push(FILTERED)
      else copy.push('value' in item ? this.#describe(item.value, depth + 1) : '[Getter]')
      previous = item?.value
    }
    if (length > copy.length) copy.push(`[${length - copy.length} more]`)
    return copy
  }

  #map(map: ReadonlyMap<unknown, unknown>, depth: number): object {
    const size = collectionSize(Map.prototype, map)
    const copy: Record<string, unknown> = { [TYPE_KEY]: `Map(${size})` }
    let count = 0
    for (const [key, value] of Map.prototype.entries.call(map) as Iterable<[unknown, unknown]>) {
      if (count++ >= this.#limits.objectKeys) break
      const name = typeof key === 'string' ? key : String(this.#describe(key, this.#limits.depth))
      define(copy, this.#key(name), this.#namedValue(name, value, depth + 1))
    }
    if (size > this.#limits.objectKeys) copy[MORE_KEY] = `${size - this.#limits.objectKeys} more`
    return copy
  }

  #set(set: ReadonlySet<unknown>, depth: number): object {
    const size = collectionSize(Set.prototype, set)
    const items: unknown[] = []
    for (const item of Set.prototype.values.call(set) as Iterable<unknown>) {
      if (items.length >= this.#limits.arrayItems) break
      items.push(this.#describe(item, depth + 1))
    }
    if (size > items.length) items.push(`[${size - items.length} more]`)
    return { [TYPE_KEY]: `Set(${size})`, values: items }
  }

  #plainObject(object: object, depth: number): object {
    const copy: Record<string, unknown> = {}
    const name = className(object)
    if (name !== 'Object') copy[TYPE_KEY] = cleanText(name, MAX_KEY_LENGTH)
    // Not `for...in`, which also reads prototypes, and a prototype can be a proxy.
    const keys = Object.keys(object)
    const secretKeys = this.#secretMembers(object)
    let count = 0
    for (const key of keys) {
      if (count >= this.#limits.objectKeys || this.#valuesLeft <= 0 || this.#charactersLeft <= 0) break
      count++
      define(copy, this.#key(key), secretKeys.has(key) ? FILTERED : this.#property(object, key, depth))
    }
    if (keys.length > count) copy[MORE_KEY] = `${keys.length - count} more`
    return copy
  }

  /** Handles objects such as `{ name: 'password', value: … }`, common for forms and headers. */
  #secretMembers(object: object): ReadonlySet<string> {
    return this.secretMembers((key) => ownValue(object, key))
  }

  #property(object: object, key: string, depth: number): unknown {
    const property = Object.getOwnPropertyDescriptor(object, key)
    if (!property) return '[undefined]'
    return 'value' in property ? this.#namedValue(key, property.value, depth + 1) : '[Getter]'
  }

  #key(key: string): string {
    const plain = cleanText(this.#redactor.text(cleanText(key, MAX_KEY_LENGTH * 2)), MAX_KEY_LENGTH)
    this.#charactersLeft -= plain.length
    this.#totalCharactersLeft -= plain.length
    return plain
  }
}

/** Avoids assignment, which would set the prototype for a key named `__proto__`. */
function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Uses the built-in getter, because a subclass in the host can override `size`. */
function collectionSize(prototype: object, collection: unknown): number {
  return Number(Object.getOwnPropertyDescriptor(prototype, 'size')?.get?.call(collection) ?? 0)
}
