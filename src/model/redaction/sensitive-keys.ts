import {
  isCompoundSecret,
  isDescriptiveKey,
  type KeyWords,
  keyWords,
  SECRET_WORD,
  SENSITIVE_PHRASES,
} from './key-words.js'
import { NOT_ASCII, WORD } from './text-scan.js'

export type IsSensitiveKey = (key: string) => boolean

export interface SensitiveKeys {
  isSensitiveKey: IsSensitiveKey
  /** Whether a text with these features may contain a sensitive key. */
  mayNameSecret(text: string, features: number): boolean
}

const MAX_KEY_PART_LENGTH = 200
const MAX_CACHED_KEYS = 2000

/**
 * Recognizes sensitive keys by the built-in words and the host's own patterns. Words match whole words of a key, so
 * `shipping` does not match `pin`. A RegExp is tested against the whole key.
 */
export function sensitiveKeys(patterns: readonly (string | RegExp)[]): IsSensitiveKey {
  const words = new Set(patterns.filter((p) => typeof p === 'string').map((p) => keyWords(p).join(' ')))
  const expressions = patterns.filter((pattern) => pattern instanceof RegExp)
  const isSensitive = (key: string): boolean => {
    const parts = keyWords(key)
    if (containsPhrase(parts, words) || expressions.some((expression) => matches(expression, key))) return true
    return (containsPhrase(parts, SENSITIVE_PHRASES) || parts.some(isCompoundSecret)) && !isDescriptiveKey(parts)
  }
  const known = new Map<string, boolean>()
  return (key) => {
    // The significant words are at either end of a key.
    const short =
      key.length > 2 * MAX_KEY_PART_LENGTH
        ? `${key.slice(0, MAX_KEY_PART_LENGTH)} ${key.slice(-MAX_KEY_PART_LENGTH)}`
        : key
    const remembered = known.get(short)
    if (remembered !== undefined) return remembered
    if (known.size >= MAX_CACHED_KEYS) known.clear()
    const answer = isSensitive(short)
    known.set(short, answer)
    return answer
  }
}

/**
 * Searches for the words of all sensitive keys. Few texts contain one, and only those are searched for keys and
 * values.
 */
export function sensitiveWords(patterns: readonly (string | RegExp)[]): SensitiveKeys['mayNameSecret'] {
  // A RegExp may match any key.
  if (patterns.some((pattern) => pattern instanceof RegExp)) return () => true
  const own = patterns.map((pattern) => keyWords(String(pattern))[0] ?? '').filter((word) => word !== '')
  const ownWord =
    own.length === 0 ? null : new RegExp(own.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '.')).join('|'), 'iu')
  return (text, features) =>
    (features & NOT_ASCII) !== 0 || ((features & WORD) !== 0 && SECRET_WORD.test(text)) || ownWord?.test(text) === true
}

function containsPhrase(words: KeyWords, phrases: ReadonlySet<string>): boolean {
  if (phrases.size === 0) return false
  return words.some(
    (word, i) =>
      phrases.has(word) ||
      phrases.has(`${word} ${words[i + 1]}`) ||
      phrases.has(`${word} ${words[i + 1]} ${words[i + 2]}`),
  )
}

function matches(expression: RegExp, text: string): boolean {
  expression.lastIndex = 0
  return expression.test(text)
}
