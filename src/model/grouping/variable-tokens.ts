import { type MessageShape, MIN_RANDOM_LETTERS } from './message-shape.js'
import { hasNameCase, looksLikeName, looksLikeWord } from './name-shape.js'

/** `ord_XbKqLmPw`: a random id without digits is recognized by its mixed letter case. */
const PREFIXED_LETTERS = /^([a-z]{2,5}_)([A-Za-z]{6,40})$/

const NANOID_LENGTH = 21
/** A nanoid with or without a prefix. */
const NANOID = /^([a-z]{2,10}[_-])?([\w-]{21})$/
/** Excludes ids with a prefix, which can be as long as a nanoid: `acct_1032D82eZvKYlo2C`. */
const PREFIXED_ID = /^[a-z]{2,10}_[A-Za-z\d]+$/
/** Shorter parts of a nanoid resemble words too often. */
const MIN_RANDOM_PART = 4

/** Padding marks the end of base64, whose `/` and `+` would otherwise split it into words. `name=` is not padding. */
const PADDED_BASE64 = /(?<![\w+/=])(?=[\w+/-]*[A-Z\d])[\w+/-]{16,}={1,2}(?=$|[\s)\]}>,.;:!?'"`|])/g

/** Shorter words that mix letters and digits are names more often than ids. */
const MIN_ID_LENGTH = 8
/** After a prefix such as `ord_`, a shorter part is an id too. */
const MIN_PREFIXED_LENGTH = 5
/** Fewer letters before or after a number are an abbreviation or a unit: `TKT1234567`, `5000000kb`. */
const MANY_LETTERS = /^(?=.{7})\d*[A-Za-z]{4}/
/** Words after a number are in one case: `64bit`. */
const MIXED_CASE_AFTER_NUMBER = /^\d+(?:[a-z]+[A-Z]|[A-Z]+[a-z])/
/** No identifier alternates between letters and digits more often: `a1b2` has four runs. */
const MAX_NAME_RUNS = 4
/** Seven digits are the short form of a commit. */
const HEX = /^(?:0x[\da-f]+|(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{7,})$/i

/** Words before an id: `checkout`, `ORD`, `v2`. */
const PREFIX_WORD = /^(?:[A-Za-z]?\d*|[A-Z]{2,10}\d*|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]+)*\d*)$/

/** Names whose digits are part of the name. */
const NAMES_WITH_DIGITS =
  /^(?:(?:aes|amd|arm|base|blake|brotli|chacha|cp|crc|curve|ec|ed|es|float|h|hs|http|int|ip|ipv|iso|java|latin|log|md|mp|node|oauth|pkcs|ps|python|rfc|rs|s|sha|sha2|sha3|socks|ssl|tls|uint|utf|v|web|win|x)-?\d{1,5}|secp\d{3}[kr]1|prime256v1|chacha20poly1305|utf8mb[34]|x86_64|[eh]c2|k8s|i18n|l10n|a11y|e2e|p2p|b2b|b2c|iso8601\w*|rfc\d{4}\w*)$/i
/** Parts of `base64url` and `readUInt32LE`. A match begins at the digits, which are quicker to find than the words. */
const KNOWN_WORD =
  /\d(?<=(ansi|base|crc|ecma|float|html|http|u?int|ipv|md|node|oauth|pbkdf|pkcs|sha|socks|tls|utf)\d)\d{0,2}(?!\d)/i
const MAX_NAME_LENGTH = 16

/** `42P01`, `40P01`, `XX000`: the five characters of a SQLSTATE that is not a plain number. */
const SQLSTATE = '\\d{2}[A-Z][\\dA-Z]{2}|HY\\d{3}|XX\\d{3}|P0\\d{3}'
/** SQLSTATE, Prisma, MongoDB, TypeScript, Oracle and Microsoft Entra. */
const ERROR_CODE = new RegExp(
  `^(?:${SQLSTATE}|P\\d{4}|E\\d{5}|TS\\d{4,5}|(?:ORA|NJS|DPI|DPY|PLS|TNS)-\\d{3,5}|AADSTS\\d{4,7})$`,
)

/** `OAuth2Client`, `x2y`: the digits are not at the end, where a number would be. */
const DIGIT_INSIDE = /^[A-Za-z]+\d{1,3}[A-Za-z]+$/

type HideDigits = (word: string) => string

/**
 * Replaces ids with `<number>`, and hides the digits of names from the number pattern that runs later. Word prefixes
 * are kept: `ord_8fK2lmP` becomes `ord_<number>`, and a pod name keeps the name of its service.
 */
export function replaceIds(text: string, shape: MessageShape, hideDigits: HideDigits): string {
  const result = shape.hasEquals ? text.replace(PADDED_BASE64, '<number>') : text
  return shape.mayHaveId ? replaceTokens(result, hideDigits) : result
}

/** Finds words together with those attached by `_` or `-`. A regular expression takes four times as long. */
function replaceTokens(text: string, hideDigits: HideDigits): string {
  let result = ''
  let copied = 0
  for (let i = 0; i < text.length; i++) {
    const start = i
    let hasDigit = false
    let hasLetter = false
    let hasUpperCase = false
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code >= 0x61 && code <= 0x7a) hasLetter = true
      else if (code >= 0x30 && code <= 0x39) hasDigit = true
      else if (code >= 0x41 && code <= 0x5a) hasUpperCase = true
      else if (code !== 0x5f && code !== 0x2d) break
    }
    if (hasDigit ? !hasLetter && !hasUpperCase : !hasUpperCase || !hasLetter) continue
    const token = text.slice(start, i)
    const replaced = hasDigit ? replaceMixedToken(token, hideDigits) : replaceLetterToken(token)
    if (replaced === token) continue
    result += text.slice(copied, start) + replaced
    copied = i
  }
  return copied === 0 ? text : result + text.slice(copied)
}

/** Letters in random case: a nanoid, or the part after the prefix of an id. */
function replaceLetterToken(token: string): string {
  if (token.length >= MIN_RANDOM_LETTERS && /^[A-Za-z]+$/.test(token)) {
    return hasNameCase(token) ? token : '<number>'
  }
  const parts = PREFIXED_LETTERS.exec(token)
  return parts?.[2] && !hasNameCase(parts[2]) ? `${parts[1]}<number>` : token
}

/** A word with letters and digits. */
function replaceMixedToken(token: string, hideDigits: HideDigits): string {
  if (ERROR_CODE.test(token) || isNameWithDigits(token)) return hideDigits(token)
  if (!token.includes('_') && !token.includes('-')) {
    if (isId(token, MIN_ID_LENGTH)) return '<number>'
    return DIGIT_INSIDE.test(token) ? hideDigits(token) : token
  }
  const nanoid = token.length >= NANOID_LENGTH ? NANOID.exec(token) : null
  if (nanoid?.[2] && isNanoid(nanoid[2])) return `${nanoid[1] ?? ''}<number>`
  const parts = token.split(/([_-]+)/)
  // Every second part is a separator.
  for (let i = 0; i < parts.length; i += 2) {
    const isShort = i === 0 && token.length < 2 * MIN_ID_LENGTH
    if (!isId(parts[i] as string, isShort ? MIN_ID_LENGTH : MIN_PREFIXED_LENGTH)) continue
    return `${keptPrefix(parts.slice(0, i), hideDigits)}<number>`
  }
  return parts.map((part) => keptPart(part, hideDigits)).join('')
}

/** A nanoid may contain `_` and `-` anywhere. A phrase of the same length consists of words. */
function isNanoid(id: string): boolean {
  if (!/[a-z]/.test(id) || !/[A-Z]/.test(id) || PREFIXED_ID.test(id)) return false
  return id.split(/[_-]/).some((part) => part.length >= MIN_RANDOM_PART && !looksLikeWord(part))
}

/** Keeps words before an id. Parts that are not words belong to the id itself: nanoids contain `_` and `-`. */
function keptPrefix(parts: readonly string[], hideDigits: HideDigits): string {
  if (!parts.every((part, i) => i % 2 === 1 || PREFIX_WORD.test(part))) return ''
  return parts.every((part) => part === '' || /^[_-]+$/.test(part))
    ? ''
    : parts.map((part) => keptPart(part, hideDigits)).join('')
}

function keptPart(part: string, hideDigits: HideDigits): string {
  if (!/\d/.test(part)) return part
  return ERROR_CODE.test(part) || isNameWithDigits(part) || DIGIT_INSIDE.test(part) ? hideDigits(part) : part
}

/**
 * Returns true if the word is not a name. Letters followed by digits (`user12345`) and the reverse (`5000ms`) contain a
 * number, unless the letters are random.
 */
function isId(part: string, minLength: number): boolean {
  const runs = letterAndDigitRuns(part)
  if (runs < 2) return false
  if (HEX.test(part)) return true
  if (part.length < minLength) return false
  if (runs > MAX_NAME_RUNS) return true
  if (runs === 2) return MANY_LETTERS.test(part) && !isWordWithNumber(part)
  if (runs === MAX_NAME_RUNS && !/[a-z]/.test(part)) return true
  return !looksLikeName(part) && !hasKnownWord(part)
}

function isWordWithNumber(part: string): boolean {
  return looksLikeWord(part, part.length) ? !MIXED_CASE_AFTER_NUMBER.test(part) : hasKnownWord(part)
}

function hasKnownWord(part: string): boolean {
  const known = KNOWN_WORD.exec(part)
  if (!known?.[1]) return false
  return (
    looksLikeWord(part.slice(0, known.index - known[1].length)) &&
    looksLikeWord(part.slice(known.index + known[0].length))
  )
}

function letterAndDigitRuns(part: string): number {
  let runs = 0
  let wasDigit: boolean | null = null
  for (let i = 0; i < part.length; i++) {
    const isDigit = part.charCodeAt(i) <= 0x39
    if (isDigit !== wasDigit) runs++
    wasDigit = isDigit
  }
  return runs
}

function isNameWithDigits(word: string): boolean {
  return word.length <= MAX_NAME_LENGTH && NAMES_WITH_DIGITS.test(word)
}
