import { withoutKeyedValues } from './keyed-values.js'
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

/** Whether a text may hold what the shapes below look for: one look is far cheaper than all those searches. */
export const TOKEN_SHAPE =
  /eyJ|bearer|basic|\d{13}|\d{4}[ +-]\d{4}|AKIA|gh[pousr]_|github_pat_|[sr]k_(?:live|test)_|xox[a-z]-|glpat-|sk-[\w-]{16}|AIza|npm_[a-z\d]{16}|hooks\.slack|\/webhooks\/|sig(?:nature)?[=%]|-----BEGIN/i
const MAY_HOLD_NAME = /[=:@]|%(?:25){0,3}(?:3[ad]|40)|--[a-z]|<\//i

// No pattern gives up on a long secret, whose tail would stay; each is linear, because what may repeat cannot overlap.
const PRIVATE_KEY = /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g
const URL_USER = /([a-z][a-z\d+.-]{1,20}:\/\/)[^\s/?#"'<>]+@/gi
const ENCODED_URL_USER =
  /([a-z][a-z\d+.-]{1,20}%(?:25){0,3}3a%(?:25){0,3}2f%(?:25){0,3}2f)(?:[^\s/?#"'<>&%]|%(?!(?:25){0,3}(?:40|2f)))+(%(?:25){0,3}40)/gi
const SCHEME_TOKEN =
  /\b(bearer|basic)(\s{1,5}|%20)(?!(?:auth|authentication|authorization|credentials?|realm|scheme|header|tokens?)\b)[\w.~+/=-]{6,}/gi
const JSON_WEB_TOKEN = /(?:\b|(?<=%[\dA-Fa-f]{2}))eyJ[\w.-]{8,}/g
const KNOWN_TOKEN =
  /(?:\b|(?<=%[\dA-Fa-f]{2}))(?:AKIA[\dA-Z]{12,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|[sr]k_(?:live|test)_\w{8,}|xox[a-z]-[\w-]{8,}|glpat-[\w-]{8,}|sk-(?=[\w-]{0,60}[\dA-Z])[\w-]{16,}|AIza[\w-]{30,}|npm_[\dA-Za-z]{20,})/g
const WEBHOOK =
  /(hooks\.slack\.com(?:\/|%2f)(?:services|workflows|triggers)|\/api\/webhooks)(\/|%2f)[\w/-](?:[\w/-]|%2f)*/gi
const CARD_NUMBER =
  /(?<![\d.])(?:[2-6]\d{12,18}|[2-6]\d{3}([ +-])\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ +-])\d{6}\2\d{5})(?!\d)/g
/** These headers hold several words, some of them quoted, to the end of the line. */
const HEADER =
  /\b((?:proxy-)?authorization|(?:set-)?cookie)(\s{0,2}[:=]\s{0,2})(?![\s"'\\])(?:=\s{0,2}\\{0,7}"[^"\n]*"?|=\s{0,2}\\{0,7}'[^'\n]*'?|[^\n"'}])+/gi
/** The signature of an address that is open to whoever has it. Elsewhere these words mean other things. */
const URL_SIGNATURE = /((?:[?&]|%(?:25){0,3}(?:3f|26))(?:x-goog-)?sig(?:nature)?(?:=|%(?:25){0,3}3d))[^\s&#"'<>]+/gi

function redactText(text: string, isSensitiveKey: IsSensitiveKey): string {
  const withoutTokens = TOKEN_SHAPE.test(text) ? withoutShapes(text) : text
  if (!MAY_HOLD_NAME.test(withoutTokens)) return withoutTokens
  const withoutHeaders = withoutUser(withoutTokens).replace(HEADER, `$1$2${FILTERED}`)
  return withoutKeyedValues(withoutNamedParts(withoutHeaders, isSensitiveKey), FILTERED, isSensitiveKey)
}

function withoutShapes(text: string): string {
  return text
    .replace(PRIVATE_KEY, FILTERED)
    .replace(SCHEME_TOKEN, `$1$2${FILTERED}`)
    .replace(JSON_WEB_TOKEN, FILTERED)
    .replace(KNOWN_TOKEN, FILTERED)
    .replace(WEBHOOK, `$1$2${FILTERED}`)
    .replace(CARD_NUMBER, (digits) => (passesLuhn(digits.replace(/\D/g, '')) ? FILTERED : digits))
    .replace(URL_SIGNATURE, `$1${FILTERED}`)
}

/** The search for an address with a user is long in a long word, and there is none without an @. */
function withoutUser(text: string): string {
  const plain = text.includes('@') ? text.replace(URL_USER, `$1${FILTERED}@`) : text
  return plain.includes('40') && plain.includes('%') ? plain.replace(ENCODED_URL_USER, `$1${FILTERED}$2`) : plain
}

/** `--password x`, but not "--password is missing". */
const COMMAND_OPTION =
  /(?<![\w-])(--([a-z][\w-]{1,60}) {1,3})(?! |-|(?:and|are|cannot|flag|has|is|must|needs?|not|option|or|requires?|should|was)(?![^\s.,:;]))(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"']+)/gi
const ELEMENT = /(<([a-z_][\w:.-]{1,80})(?:\s[^<>\n]{0,200})?>)(?:<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|[^<]+(?=<\/))/gi
/** As PostgreSQL names the row that broke a rule. */
const ROW_KEY = /(\bKey \(([^()\n]{1,300})\)=\()[^\n]*?(?=\) (?:already|conflicts|is )|\)?\.?$)/gim

/** What is named by something else than a key and a sign. */
function withoutNamedParts(text: string, isSensitiveKey: IsSensitiveKey): string {
  const filter = (part: string, start: string, names: string) =>
    names.split(',').some(isSensitiveKey) ? start + FILTERED : part
  let result = text
  if (text.includes('--')) result = result.replace(COMMAND_OPTION, filter)
  if (text.includes('</')) result = result.replace(ELEMENT, filter)
  if (text.includes(')=(')) result = result.replace(ROW_KEY, filter)
  return result
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
