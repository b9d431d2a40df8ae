/** A word with at least one digit in it, together with the words that `_` or `-` attach to it. */
const DIGIT_TOKEN = /(?<![\w-])(?=[A-Za-z_-]{0,64}\d)[A-Za-z\d]+(?:[_-]{1,2}[A-Za-z\d]+)*/g

/** `ord_XbKqLmPw`: a random id may contain no digit, but then its letter case gives it away. */
const PREFIXED_LETTERS = /(?<![\w-])[a-z]{2,5}_[A-Za-z]{6,40}(?![\w-])/g

/** 26 characters of Crockford's base 32. The first holds three bits of the timestamp. */
const ULID = /\b[0-7][\dA-HJKMNP-TV-Z]{25}\b/gi

/** Padding marks the end of base 64, whose `/` and `+` would otherwise split it into words. */
const PADDED_BASE64 = /(?<![\w+/=])[\w+/-]{16,}={1,2}(?!=)/g

/** Shorter words that mix letters and digits are names more often than ids. */
const MIN_ID_LENGTH = 8
/** Behind a prefix such as `ord_`, a shorter part is an id too. */
const MIN_PREFIXED_LENGTH = 5
/** No identifier changes between letters and digits this often. */
const RANDOM_CHANGES = 4

/** Words of ordinary letter case and numbers of up to three digits: `OAuth2Client`, `Int32Array`, `BASE64URL`. */
const ORDINARY_NAME = /^[a-z]?(?:[A-Z]?[a-z]{2,}|[A-Z]{2,8}|[A-Z]?\d{1,3}(?!\d))+$/

/** Names whose trailing digits are part of the name, in lower case. */
const NAMES_WITH_DIGITS =
  /^(?:aes|amd|arm|base|blake|brotli|chacha|cp|crc|curve|ec|ed|es|float|h|hs|http|int|ip|ipv|iso|java|latin|log|md|mp|node|oauth|pkcs|ps|python|rfc|rs|s|sha|sha2|sha3|socks|ssl|tls|uint|utf|v|web|win|x)-?\d{1,5}$|^(?:secp\d{3}[kr]1|prime256v1|chacha20poly1305|utf8mb[34]|x86_64|[eh]c2|k8s|i18n|l10n|a11y|e2e|p2p|b2b|b2c|iso8601\w*|rfc\d{4}\w*)$/

/** `42P01`, `40P01`, `XX000`: the five characters of a SQLSTATE that is no plain number. */
const SQLSTATE = /^(?:\d{2}[A-Z][\dA-Z]{2}|HY\d{3}|XX\d{3}|P0\d{3})$/
/** Prisma, MongoDB, TypeScript and Oracle. */
const ERROR_CODE = /^(?:P\d{4}|E\d{5}|TS\d{4,5}|ORA-\d{5})$/

/**
 * Replaces ids that mix letters and digits by `<number>`, and hides the digits of names from the number pattern that runs
 * later. Prefixes of words stay: `ord_8fK2lmP` becomes `ord_<number>`, and a pod name keeps the name of its service.
 */
export function replaceIds(text: string, hideDigits: (word: string) => string): string {
  let result = text
  if (result.includes('=')) result = result.replace(PADDED_BASE64, '<number>')
  result = result.replace(ULID, (found) => (/\d/.test(found) && /[a-z]/i.test(found) ? '<number>' : found))
  result = result.replace(DIGIT_TOKEN, (token) => replaceToken(token, hideDigits))
  if (!result.includes('_')) return result
  return result.replace(PREFIXED_LETTERS, (token) => {
    const at = token.indexOf('_') + 1
    return ORDINARY_NAME.test(token.slice(at)) ? token : `${token.slice(0, at)}<number>`
  })
}

function replaceToken(token: string, hideDigits: (word: string) => string): string {
  const start = token.charCodeAt(0)
  // A plain number is left to the pattern for numbers.
  if (start < 58 && /^\d+$/.test(token)) return token
  if (isCode(token) || isNameWithDigits(token)) return hideDigits(token)
  const parts = token.split(/([_-]{1,2})/)
  // Every second part is a separator.
  for (let i = 0; i < parts.length; i += 2) {
    const part = parts[i] as string
    const least = i === 0 && token.length < 2 * MIN_ID_LENGTH ? MIN_ID_LENGTH : MIN_PREFIXED_LENGTH
    if (part.length >= least && isRandom(part)) return `${parts.slice(0, i).map(keptPart).join('')}<number>`
  }
  return parts.map(keptPart).join('')

  function keptPart(part: string): string {
    return isCode(part) || isNameWithDigits(part) || isDigitInside(part) ? hideDigits(part) : part
  }
}

/** Whether the word is no name. Letters followed by digits (`user12345`) and the reverse (`5000ms`) hold a number. */
function isRandom(part: string): boolean {
  const changes = part.match(/\d+|[A-Za-z]+/g)?.length ?? 0
  if (changes < 3) return false
  if (changes > RANDOM_CHANGES) return true
  return !ORDINARY_NAME.test(part) || (changes === RANDOM_CHANGES && !/[a-z]/.test(part))
}

function isCode(word: string): boolean {
  return SQLSTATE.test(word) || ERROR_CODE.test(word)
}

function isNameWithDigits(word: string): boolean {
  return NAMES_WITH_DIGITS.test(word.toLowerCase())
}

/** `OAuth2Client`, `x2y`: the digits are not at the end, where a number would be. */
function isDigitInside(part: string): boolean {
  return /^[A-Za-z]+\d{1,3}[A-Za-z]+$/.test(part)
}
