import { types } from 'node:util'
import type { IsSensitiveKey } from '../../model/redaction/sensitive-keys.js'
import { HELD_MESSAGE } from './breadcrumbs.js'

const MOST_VALUES = 10
/** One more than the stored length, so that a cut message is copied and the full text is released. */
const MOST_CHARACTERS = HELD_MESSAGE + 1

/**
 * Formats console arguments without running host code: no `toString`, custom inspection or getters. Objects are named
 * by type only. A value after the name of a secret (`console.log('password', value)`) is formatted as a pair, so that
 * redaction recognizes it.
 */
export function textOfArguments(values: readonly unknown[], isSensitiveKey: IsSensitiveKey): string {
  const [first] = values
  const shown = Math.min(values.length, MOST_VALUES)
  let text = ''
  let next = 0
  if (typeof first === 'string' && first.includes('%') && values.length > 1) {
    next = 1
    text = first.slice(0, MOST_CHARACTERS).replace(/%([sdifjoOc%])/g, (sign, kind: string) => {
      if (kind === '%') return '%'
      if (next >= shown) return sign
      const value = values[next++]
      return kind === 'c' ? '' : textOf(value)
    })
  }
  for (; next < shown && text.length < MOST_CHARACTERS; next++) {
    const name = next > 0 ? nameOfSecret(values[next - 1], isSensitiveKey) : undefined
    if (name === undefined) text += `${next > 0 ? ' ' : ''}${textOf(values[next])}`
    else text += `${/[:=]\s*$/.test(name) ? ' ' : ': '}${JSON.stringify(textOf(values[next]))}`
  }
  return values.length > shown ? `${text} …` : text
}

/** A single word, or the last two words of a text that ends in a separator. */
const NAME = /^\s{0,9}[\p{L}\p{N}_.[\]-]{1,80}\s{0,9}$|(?:\p{L}{2,20} )?[\p{L}\p{N}_.[\]-]{1,80}\s{0,2}[:=]\s{0,9}$/u
const NAME_LENGTH = 100

function nameOfSecret(value: unknown, isSensitiveKey: IsSensitiveKey): string | undefined {
  if (typeof value !== 'string' || value.length > NAME_LENGTH) return undefined
  const name = NAME.exec(value)?.[0]
  return name !== undefined && isSensitiveKey(name) ? name : undefined
}

function textOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > MOST_CHARACTERS ? value.slice(0, MOST_CHARACTERS) : value
    case 'function':
      return '[Function]'
    case 'object':
      return value === null ? 'null' : kindOf(value)
    default:
      return String(value)
  }
}

function kindOf(value: object): string {
  if (types.isProxy(value)) return '[Proxy]'
  if (types.isNativeError(value)) {
    const message = Object.getOwnPropertyDescriptor(value, 'message')?.value
    return typeof message === 'string' ? `Error: ${message.slice(0, MOST_CHARACTERS)}` : '[Error]'
  }
  return Array.isArray(value) ? `[Array(${value.length})]` : '[Object]'
}
