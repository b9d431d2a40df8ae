import { types } from 'node:util'
import type { IsSensitiveKey } from '../../model/redaction/sensitive-keys.js'
import { MAX_HELD_LENGTH } from './breadcrumbs.js'

const MAX_VALUES = 10
/** One more than the stored length, so that a truncated message is copied and the full text is released. */
const MAX_CHARACTERS = MAX_HELD_LENGTH + 1

/**
 * Formats console arguments without running host code: no `toString`, custom inspection or getters. Objects are named
 * by type only. A value after the name of a secret (`console.log('password', value)`) is formatted as a pair, so that
 * redaction recognizes it.
 */
export function formatArguments(values: readonly unknown[], isSensitiveKey: IsSensitiveKey): string {
  const [first] = values
  const count = Math.min(values.length, MAX_VALUES)
  let text = ''
  let index = 0
  if (typeof first === 'string' && first.includes('%') && values.length > 1) {
    index = 1
    text = first.slice(0, MAX_CHARACTERS).replace(/%([sdifjoOc%])/g, (placeholder, kind: string) => {
      if (kind === '%') return '%'
      if (index >= count) return placeholder
      const value = values[index++]
      return kind === 'c' ? '' : formatValue(value)
    })
  }
  for (; index < count && text.length < MAX_CHARACTERS; index++) {
    const name = index > 0 ? findSecretName(values[index - 1], isSensitiveKey) : undefined
    if (name === undefined) text += `${index > 0 ? ' ' : ''}${formatValue(values[index])}`
    else text += `${/[:=]\s*$/.test(name) ? ' ' : ': '}${JSON.stringify(formatValue(values[index]))}`
  }
  return values.length > count ? `${text} …` : text
}

/** Matches a single word, or the last two words of a string that ends in a separator. */
const SECRET_NAME =
  /^\s{0,9}[\p{ID_Continue}.[\]-]{1,80}\s{0,9}$|(?:\p{Alphabetic}{2,20} )?[\p{ID_Continue}.[\]-]{1,80}\s{0,2}[:=]\s{0,9}$/u
const MAX_NAME_LENGTH = 100

function findSecretName(value: unknown, isSensitiveKey: IsSensitiveKey): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_NAME_LENGTH) return undefined
  const name = SECRET_NAME.exec(value)?.[0]
  return name !== undefined && isSensitiveKey(name) ? name : undefined
}

function formatValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > MAX_CHARACTERS ? value.slice(0, MAX_CHARACTERS) : value
    case 'function':
      return '[Function]'
    case 'object':
      return value === null ? 'null' : describeObject(value)
    default:
      return String(value)
  }
}

function describeObject(value: object): string {
  if (types.isProxy(value)) return '[Proxy]'
  if (types.isNativeError(value)) {
    const message = Object.getOwnPropertyDescriptor(value, 'message')?.value
    return typeof message === 'string' ? `Error: ${message.slice(0, MAX_CHARACTERS)}` : '[Error]'
  }
  return Array.isArray(value) ? `[Array(${value.length})]` : '[Object]'
}
