import { type IsSensitiveKey, sensitiveKeys } from './sensitive-keys.js'

export const FILTERED = '[FILTERED]'

/** Tells which keys are sensitive, and takes secrets out of free text. */
export interface Redactor {
  isSensitiveKey: IsSensitiveKey
  text(text: string): string
}

/** A redactor for the built-in words and the host's own patterns. */
export function createRedactor(patterns: readonly (string | RegExp)[] = []): Redactor {
  const isSensitiveKey = sensitiveKeys(patterns)
  return { isSensitiveKey, text: rememberingHarmless((text) => redactText(text, isSensitiveKey)) }
}

const REMEMBERED_TEXTS = 500
const REMEMBERED_LENGTH = 300

/**
 * User agents and messages come again and again: those that held no secret are not searched again. A text that held
 * one is not remembered, so that no secret stays in memory for our sake.
 */
function rememberingHarmless(redact: (text: string) => string): (text: string) => string {
  const harmless = new Set<string>()
  return (text) => {
    if (text.length > REMEMBERED_LENGTH) return redact(text)
    if (harmless.has(text)) return text
    const redacted = redact(text)
    if (redacted === text) {
      if (harmless.size >= REMEMBERED_TEXTS) harmless.clear()
      harmless.add(text)
    }
    return redacted
  }
}

export const NO_REDACTION: Redactor = { isSensitiveKey: () => false, text: (text) => text }

const MAY_HOLD_SECRET =
  /[=:@]|%3[ad]|eyJ|bearer|basic|\d{13}|\d{4}[ +-]\d{4}|AKIA|gh[pousr]_|github_pat_|[sr]k_(?:live|test)_|xox[a-z]-|glpat-|-----BEGIN/i

// No pattern gives up on a long secret, whose tail would stay; each is linear, because what may repeat cannot overlap.
const PRIVATE_KEY = /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g
const URL_USER = /([a-z][a-z\d+.-]{1,20}:\/\/)[^\s/?#"'<>]+@/gi
const SCHEME_TOKEN =
  /\b(bearer|basic)\s{1,5}(?!(?:auth|authentication|authorization|credentials?|realm|scheme|header|tokens?)\b)[\w.~+/=-]{6,}/gi
const JSON_WEB_TOKEN = /\beyJ[\w.-]{8,}/g
const KNOWN_TOKEN =
  /\b(?:AKIA[\dA-Z]{12,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|[sr]k_(?:live|test)_\w{8,}|xox[a-z]-[\w-]{8,}|glpat-[\w-]{8,})/g
const CARD_NUMBER =
  /(?<![\d.])(?:[2-6]\d{12,18}|[2-6]\d{3}([ +-])\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ +-])\d{6}\2\d{5})(?!\d)/g
/** These headers hold several words, to the end of the line. */
const HEADER = /\b((?:proxy-)?authorization|(?:set-)?cookie)(\s{0,2}[:=]\s{0,2})(?![\s"'\\])[^\n"'}]+/gi

function redactText(text: string, isSensitiveKey: IsSensitiveKey): string {
  if (!MAY_HOLD_SECRET.test(text)) return text
  const withoutTokens = withoutUser(text)
    .replace(PRIVATE_KEY, FILTERED)
    .replace(SCHEME_TOKEN, `$1 ${FILTERED}`)
    .replace(JSON_WEB_TOKEN, FILTERED)
    .replace(KNOWN_TOKEN, FILTERED)
    .replace(CARD_NUMBER, (digits) => (passesLuhn(digits.replace(/\D/g, '')) ? FILTERED : digits))
    .replace(HEADER, `$1$2${FILTERED}`)
  return KEY_SIGN.test(withoutTokens) ? withoutValues(withoutTokens, isSensitiveKey) : withoutTokens
}

/** The search for an address with a user is long in a long word, and there is none without an @. */
function withoutUser(text: string): string {
  return text.includes('@') ? text.replace(URL_USER, `$1${FILTERED}@`) : text
}

const KEY_SIGN = /[=:]|%3[ad]/i

/**
 * A key and its sign, perhaps with the word before it: `api key: `, `"password":`, `\"token\":`, `secret=>`, `pin%3D`. It
 * begins only where a word begins, or each letter of a long word would be tried as the beginning of a key.
 */
const KEY_AND_SIGN =
  /(?<![\p{L}\p{N}_.-])(?:(\p{L}{2,20}) )?([\p{L}\p{N}_.-]+)\\{0,7}["']?\s{0,2}(?:=>?|%3[ad]|:(?!:|\/\/))\s{0,2}/giu
/** Of a longer key the end tells what it is for. */
const KEY_LENGTH = 200
const VALUE =
  /(\\{1,7}["'])(?:(?!\1)[^\n])*(?:\1)?|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\[[^\]\n]*\]?|\{[^}\n]*\}?|[^\s&,;"'<>)\]}]+/y
const SOURCE_FILE = /\.(?:[cm]?[jt]sx?|vue|svelte|json|html?)$/

function withoutValues(text: string, isSensitiveKey: IsSensitiveKey): string {
  let result = ''
  let done = 0
  KEY_AND_SIGN.lastIndex = 0
  for (let match = KEY_AND_SIGN.exec(text); match; match = KEY_AND_SIGN.exec(text)) {
    const [, before, key = ''] = match
    if (!isSensitiveName(key.slice(-KEY_LENGTH), before, isSensitiveKey)) continue
    VALUE.lastIndex = KEY_AND_SIGN.lastIndex
    if (!VALUE.test(text)) continue
    result += text.slice(done, KEY_AND_SIGN.lastIndex) + FILTERED
    done = VALUE.lastIndex
    KEY_AND_SIGN.lastIndex = done
  }
  return result + text.slice(done)
}

function isSensitiveName(key: string, before: string | undefined, isSensitiveKey: IsSensitiveKey): boolean {
  // `token.js:12` is a place in the code.
  if (SOURCE_FILE.test(key)) return false
  if (isSensitiveKey(key)) return true
  return before !== undefined && !isSensitiveKey(before) && isSensitiveKey(`${before} ${key}`)
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const doubled = digit * 2
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
