import { isPasswordKey, PASSWORD_WORD_PARTS } from './key-words.js'
import type { IsSensitiveKey } from './sensitive-keys.js'
import { NON_ASCII, PASSWORD_PREFIX } from './text-scan.js'

const MIN_PASSWORD_LENGTH = 6
const VALUE = `(?:[^\\s"'<>()[\\]{}|,;:/\\\\=&\`]|'(?=[^\\s!-/:-@[-^\`{-~]))+`
const END = `(?=[\\s"',;)\\]}|>*\`]|$)`
const WORDS_BETWEEN = '(?: (?:is|was|provided|given|received|supplied|entered|used|default)){0,2}'
/** `->`, `(`, `[` and the like, with Markdown around the name and the value. */
const SEPARATOR = '[*_`"\']{0,3} {0,20}(?:-{1,2}>|[|:=([{<]) {0,20}[*_`"\']{0,3}'
const NAME = '[\\p{ID_Continue}.-]'

/** `password -> S`, `password(S)`, `Password [S]`, `| password | S |`, `**password**: S`, `wrong password S`. */
const passwordAndValue = (words: readonly string[], name: string, flags: string) =>
  new RegExp(`((?:${words.join('|')})${name}{0,60})${WORDS_BETWEEN}(${SEPARATOR}| {1,2})(${VALUE})${END}`, flags)
const isAscii = (word: string) => /^[\0-\x7f]+$/.test(word)
/** Several times faster than the pattern for all languages. */
const ASCII_PASSWORD = passwordAndValue(PASSWORD_WORD_PARTS.filter(isAscii), '[\\w.-]', 'gi')
const ANY_PASSWORD = passwordAndValue(PASSWORD_WORD_PARTS, NAME, 'giu')
const NON_ASCII_WORD = new RegExp(PASSWORD_WORD_PARTS.filter((word) => !isAscii(word)).join('|'), 'i')
const NAME_START = new RegExp(`(?:(?<!${NAME})(?:de|mat|mật|kata|كلمة|رمز) )?${NAME}*$`, 'iu')
const MAX_NAME_START_LENGTH = 60
/** The Redis command: `AUTH S`, `AUTH default S`. */
const AUTH_COMMAND = new RegExp(`(?<![\\w-])AUTH((?: {1,3}${VALUE}){1,2})${END}`, 'g')

/** Technical terms that often contain digits: `sha256`, `utf8`, `v2`, `line12`. */
const ORDINARY_WORD =
  /^(?:x?oauth|s?cram|digest|sha|md|utf|base|aes|des|rsa|ecdsa|b?crypt|scrypt|argon|pbkdf|hmac|rfc|iso|tls|ssl|http|ipv|version|v|field|column|line|row|step|attempt|level|arg|param|value|type|index|n?(?:var)?char|string|int)(?!\p{Alphabetic})[\w.-]*$/iu
const ERROR_CODE = /^(?:[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|[A-Z]{1,6}-?\d+|0x[\da-f]+)$/
const FILE_OR_HOST = /\.[a-z]{2,5}\d?$/i
const EMAIL_ADDRESS = /@[\w-]+\.\w/
const PLACEHOLDER = /^[$%@#]\p{Alphabetic}/u
/** `8-character`, `30days`. */
const QUANTITY = /^\d+-?\p{Alphabetic}+$/u
/** `requirepass`, `dbpwd`. */
const COMPOUND_NAME = /(?:pass|pwd)$/i
const FUNCTION_NAME = /\p{Lowercase}\p{Uppercase}/u
const LETTER = /\p{Alphabetic}/u
const PUNCTUATION = /[!#$%^*?+~@]/
const PUNCTUATION_BEFORE_LETTER = /[!#$%^*?+~@](?=\p{Alphabetic})/u

/**
 * Replaces words after the name of a password that mix letters with digits or punctuation with `filtered`. Keeps words
 * of letters only: no rule can distinguish "password sunshine" from "password reset".
 */
export function withoutChosenPasswords(
  text: string,
  features: number,
  filtered: string,
  isSensitiveKey: IsSensitiveKey,
): string {
  if ((features & PASSWORD_PREFIX) === 0 && ((features & NON_ASCII) === 0 || !NON_ASCII_WORD.test(text))) return text
  const redacted = text.replace(
    features & NON_ASCII ? ANY_PASSWORD : ASCII_PASSWORD,
    (part, nameEnd: string, separator: string, value: string, start: number) => {
      const isSeparatedBySpace = separator.trim() === ''
      if (!looksLikePassword(value, isSeparatedBySpace)) return part
      const name = (NAME_START.exec(text.slice(Math.max(0, start - MAX_NAME_START_LENGTH), start))?.[0] ?? '') + nameEnd
      // "the tests pass" does not name a password, and `hashPassword(x)` is a call.
      if ((isSeparatedBySpace && name === 'pass') || (separator === '(' && FUNCTION_NAME.test(name))) return part
      const isPasswordName = isPasswordKey(name) || COMPOUND_NAME.test(name)
      return isPasswordName && isSensitiveKey(name) ? part.slice(0, -value.length) + filtered : part
    },
  )
  if (!redacted.includes('AUTH ')) return redacted
  return redacted.replace(AUTH_COMMAND, (_, words: string) => {
    const safe = words.split(' ').map((word) => (looksLikePassword(word, true) ? filtered : word))
    return `AUTH${safe.join(' ')}`
  })
}

function looksLikePassword(word: string, isSeparatedBySpace: boolean): boolean {
  const value = word.endsWith('.') ? word.slice(0, -1) : word
  if (value.length < MIN_PASSWORD_LENGTH) return false
  if (!LETTER.test(value) || ORDINARY_WORD.test(value) || ERROR_CODE.test(value) || FILE_OR_HOST.test(value))
    return false
  if (EMAIL_ADDRESS.test(value) || PLACEHOLDER.test(value) || QUANTITY.test(value)) return false
  // Trailing punctuation belongs to the sentence, unless a separator precedes the word.
  return /\d/.test(value) || (isSeparatedBySpace ? PUNCTUATION_BEFORE_LETTER : PUNCTUATION).test(value)
}
