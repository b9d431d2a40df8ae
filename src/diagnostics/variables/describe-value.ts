import { types } from 'node:util'
import { isSecretArgument } from '../../model/redaction/command-lines.js'
import { isNamedByItemBefore, secretMembers } from '../../model/redaction/name-value-pairs.js'
import { FILTERED, type Redactor } from '../../model/redaction/redaction.js'
import { isSecretCode } from '../../model/redaction/secret-paths.js'
import { MORE_KEY, TYPE_KEY } from '../../model/stacks/frame-variables.js'
import { cleanText } from '../../model/text.js'
import { className, functionText, leafText, ownValue } from './value-text.js'

export interface ValueLimits {
  depth: number
  string: number
  array_items: number
  hash_items: number
}

/** So much of one variable is kept, so that `req` leaves room for the others. */
const VALUES_OF_ONE = 120
const CHARACTERS_OF_ONE = 6000
/** And of all variables of an error. */
const CHARACTERS_OF_ALL = 40_000
const KEY_LIMIT = 100
/** A password in an address, whose end was cut off. */
const OPEN_PASSWORD = /(:\/\/[^\s/:@]*:)[^\s/@]*$/

/**
 * Values of the host as plain, bounded, redacted data, while it stands still. Nothing of the host runs: getters are not
 * called, Proxies not touched. What JSON cannot tell apart is told by a word in brackets: `[undefined]`, `[Function f]`.
 */
export class Describer {
  readonly #redactor: Redactor
  readonly #limits: ValueLimits
  readonly #path = new Set<object>()
  #values = 0
  #characters = 0
  #characters_of_all = CHARACTERS_OF_ALL

  constructor(redactor: Redactor, limits: ValueLimits) {
    this.#redactor = redactor
    this.#limits = limits
  }

  /** Names of the values that are secret because of another value beside them. */
  secretMembers(valueNamed: (name: string) => unknown): ReadonlySet<string> {
    return secretMembers(valueNamed, this.#redactor.isSensitiveKey)
  }

  /** One variable, by its name too: a secret is known by what it is called. */
  variable(name: string, value: unknown): unknown {
    this.#begin()
    return this.#named(name, value, 0)
  }

  /** The own properties of an object, so many of them. Its methods are no state. */
  properties(object: object, most: number): Record<string, unknown> {
    if (types.isProxy(object)) return { [TYPE_KEY]: 'Proxy' }
    const copy: Record<string, unknown> = {}
    const name = className(object)
    if (name !== 'Object') copy[TYPE_KEY] = cleanText(name, KEY_LIMIT)
    const keys = Object.keys(object).filter((key) => typeof ownValue(object, key) !== 'function')
    const secretKeys = this.#secretMembers(object)
    for (const key of keys.slice(0, most)) {
      this.#begin()
      // As deep as a local variable of the same value.
      define(copy, this.#key(key), secretKeys.has(key) ? FILTERED : this.#property(object, key, -1))
    }
    if (keys.length > most) copy[MORE_KEY] = `${keys.length - most} more`
    return copy
  }

  #begin(): void {
    this.#values = VALUES_OF_ONE
    this.#characters = Math.min(CHARACTERS_OF_ONE, this.#characters_of_all)
  }

  #named(name: string, value: unknown, depth: number): unknown {
    return this.#redactor.isSensitiveKey(name) || isSecretCode(name, value) ? FILTERED : this.#value(value, depth)
  }

  #value(value: unknown, depth: number): unknown {
    if (--this.#values < 0 || this.#characters <= 0) return '[…]'
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
    // A card number may come as a number too.
    const text = String(value)
    return text.length > 12 && this.#redactor.text(text) !== text ? FILTERED : value
  }

  /** Cut behind the filter, which could not tell half of a secret. */
  #text(text: string): string {
    const { string } = this.#limits
    const most = string * 2 + 100
    const begin = cleanText(text, most)
    const whole = text.length > most ? begin.replace(OPEN_PASSWORD, `$1${FILTERED}`) : begin
    const plain = cleanText(this.#redactor.text(whole), Math.min(string, this.#characters))
    this.#characters -= plain.length
    this.#characters_of_all -= plain.length
    return plain
  }

  #object(value: object, depth: number): unknown {
    if (types.isProxy(value)) return '[Proxy]'
    if (this.#path.has(value)) return '[Circular]'
    this.#path.add(value)
    try {
      const text = leafText(value)
      return text === null ? this.#node(value, depth) : this.#text(text)
    } catch {
      // An exotic object may throw from anything that looks at it.
      return '[unreadable]'
    } finally {
      this.#path.delete(value)
    }
  }

  #node(value: object, depth: number): unknown {
    const isList = Array.isArray(value) || types.isArgumentsObject(value)
    if (depth >= this.#limits.depth) return isList ? '[Array]' : `[${this.#text(className(value))}]`
    if (isList) return this.#list(value as readonly unknown[], depth)
    if (types.isMap(value)) return this.#map(value, depth)
    if (types.isSet(value)) return this.#set(value, depth)
    return this.#keys(value, depth)
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const length = Number(ownValue(list, 'length'))
    const copy: unknown[] = []
    let before: unknown
    for (let i = 0; i < Math.min(length, this.#limits.array_items); i++) {
      const item = Object.getOwnPropertyDescriptor(list, i)
      // Raw headers and arguments of a command are names and values by turns.
      const isFiltered =
        isNamedByItemBefore(before, item?.value, this.#redactor.isSensitiveKey) ||
        (i > 0 && isSecretArgument(copy[0], item?.value, this.#redactor.text))
      if (!item) copy.push('[empty]')
      else if (isFiltered) copy.push(FILTERED)
      else copy.push('value' in item ? this.#value(item.value, depth + 1) : '[Getter]')
      before = item?.value
    }
    if (length > copy.length) copy.push(`[${length - copy.length} more]`)
    return copy
  }

  #map(map: ReadonlyMap<unknown, unknown>, depth: number): object {
    const size = sizeOf(Map.prototype, map)
    const copy: Record<string, unknown> = { [TYPE_KEY]: `Map(${size})` }
    let count = 0
    for (const [key, value] of Map.prototype.entries.call(map) as Iterable<[unknown, unknown]>) {
      if (count++ >= this.#limits.hash_items) break
      const name = typeof key === 'string' ? key : String(this.#value(key, this.#limits.depth))
      define(copy, this.#key(name), this.#named(name, value, depth + 1))
    }
    if (size > this.#limits.hash_items) copy[MORE_KEY] = `${size - this.#limits.hash_items} more`
    return copy
  }

  #set(set: ReadonlySet<unknown>, depth: number): object {
    const size = sizeOf(Set.prototype, set)
    const items: unknown[] = []
    for (const item of Set.prototype.values.call(set) as Iterable<unknown>) {
      if (items.length >= this.#limits.array_items) break
      items.push(this.#value(item, depth + 1))
    }
    if (size > items.length) items.push(`[${size - items.length} more]`)
    return { [TYPE_KEY]: `Set(${size})`, values: items }
  }

  #keys(object: object, depth: number): object {
    const copy: Record<string, unknown> = {}
    const name = className(object)
    if (name !== 'Object') copy[TYPE_KEY] = cleanText(name, KEY_LIMIT)
    // Not for...in, which asks the prototypes too, and one of them may be a Proxy.
    const keys = Object.keys(object)
    const secretKeys = this.#secretMembers(object)
    let count = 0
    for (const key of keys) {
      if (count >= this.#limits.hash_items || this.#values <= 0 || this.#characters <= 0) break
      count++
      define(copy, this.#key(key), secretKeys.has(key) ? FILTERED : this.#property(object, key, depth))
    }
    if (keys.length > count) copy[MORE_KEY] = `${keys.length - count} more`
    return copy
  }

  /** `{ name: 'password', value: … }`, as forms and headers are often kept. */
  #secretMembers(object: object): ReadonlySet<string> {
    return this.secretMembers((key) => ownValue(object, key))
  }

  #property(object: object, key: string, depth: number): unknown {
    const property = Object.getOwnPropertyDescriptor(object, key)
    if (!property) return '[undefined]'
    return 'value' in property ? this.#named(key, property.value, depth + 1) : '[Getter]'
  }

  #key(key: string): string {
    const plain = cleanText(this.#redactor.text(cleanText(key, KEY_LIMIT * 2)), KEY_LIMIT)
    this.#characters -= plain.length
    this.#characters_of_all -= plain.length
    return plain
  }
}

/** Assignment would let a key named `__proto__` change the copy's prototype. */
function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

/** The size of a Map or Set by its own kind's getter: a class of the host's may have one of its own. */
function sizeOf(prototype: object, collection: unknown): number {
  return Number(Object.getOwnPropertyDescriptor(prototype, 'size')?.get?.call(collection) ?? 0)
}
