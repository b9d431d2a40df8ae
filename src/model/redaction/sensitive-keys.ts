import {
  isCompoundSecret,
  isDescriptiveKey,
  type KeyWords,
  keyWords,
  SECRET_WORD,
  SENSITIVE_PHRASES,
} from './key-words.js'
import { NON_ASCII, SECRET_PREFIX } from './text-scan.js'

export type IsSensitiveKey = (key: string) => boolean

export interface SensitiveKeys {
  isSensitiveKey: IsSensitiveKey
  /** Returns true if a text with these features may contain a sensitive key. */
  mayNameSecret(text: string, features: number): boolean
}

const MAX_KEY_PART_LENGTH = 200
const MAX_CACHED_KEYS = 2000

/**
 * Recognizes sensitive keys by the built-in words and the host's own patterns. Words match whole words of a key, so
 * `shipping` does not match `pin`. A RegExp is tested against the whole key.
 */
export function sensitiveKeys(patterns: readonly (string | RegExp)[]): IsSensitiveKey {
  const words = new Set(
    patterns.filter((pattern) => typeof pattern === 'string').map((pattern) => keyWords(pattern).join(' ')),
  )
  const expressions = patterns.filter((pattern) => pattern instanceof RegExp)
  const matchesAnyRule = (key: string): boolean => {
    const parts = keyWords(key)
    if (containsPhrase(parts, words) || expressions.some((expression) => matches(expression, key))) return true
    return (containsPhrase(parts, SENSITIVE_PHRASES) || parts.some(isCompoundSecret)) && !isDescriptiveKey(parts)
  }
  const cache = new Map<string, boolean>()
  return (key) => {
    // The significant words are at either end of a key.
    const keyEnds =
      key.length > 2 * MAX_KEY_PART_LENGTH
        ? `${key.slice(0, MAX_KEY_PART_LENGTH)} ${key.slice(-MAX_KEY_PART_LENGTH)}`
        : key
    const cached = cache.get(keyEnds)
    if (cached !== undefined) return cached
    if (cache.size >= MAX_CACHED_KEYS) cache.clear()
    const result = matchesAnyRule(keyEnds)
    cache.set(keyEnds, result)
    return result
  }
}

/**
 * Searches for the words of all sensitive keys. Few texts contain such a word, and only these texts are searched for
 * keys and values.
 */
export function sensitiveWords(patterns: readonly (string | RegExp)[]): SensitiveKeys['mayNameSecret'] {
  // A RegExp may match any key.
  if (patterns.some((pattern) => pattern instanceof RegExp)) return () => true
  const customWords = patterns.map((pattern) => keyWords(String(pattern))[0] ?? '').filter((word) => word !== '')
  const customPattern =
    customWords.length === 0
      ? null
      : new RegExp(customWords.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '.')).join('|'), 'iu')
  return (text, features) =>
    (features & NON_ASCII) !== 0 ||
    ((features & SECRET_PREFIX) !== 0 && SECRET_WORD.test(text)) ||
    customPattern?.test(text) === true
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
