export const FILTERED = '[FILTERED]'

/** Tells which keys are sensitive, and takes secrets out of free text. */
export interface Redactor {
  isSensitiveKey(key: string): boolean
  text(text: string): string
}

/** One word, or several that stand side by side: `apiKey`, `api_key`, `x-api-key` all hold `api key`. */
const SENSITIVE_WORDS = [
  'password', 'passwd', 'pwd', 'passphrase', 'passcode', 'pass', 'secret', 'secrets', 'token', 'tokens', 'jwt', 'bearer',
  'authorization', 'auth', 'authentication', 'credential', 'credentials', 'cookie', 'cookies', 'session', 'sessionid',
  'api key', 'apikey', 'access key', 'private key', 'encryption key', 'signing key', 'secret key', 'otp', 'totp', 'pin',
  'card', 'card number', 'cardnumber', 'credit card', 'creditcard', 'cvv', 'cvc', 'cvv2', 'iban', 'account number', 'ssn',
  'social security', 'csrf', 'xsrf', 'sid', 'dsn', 'connection string', 'database url',
] // biome-ignore format: a word list reads best as lines of words

const KEY_LIMIT = 200

/**
 * A redactor for the built-in words and the host's own patterns. Words match as whole words of a key, so `shipping` is
 * not `pin`; a RegExp of the host is tried against the whole key.
 */
export function createRedactor(patterns: readonly (string | RegExp)[] = []): Redactor {
  const words = new Set([
    ...SENSITIVE_WORDS,
    ...patterns.filter((p) => typeof p === 'string').map((p) => wordsOf(p).join(' ')),
  ])
  const expressions = patterns.filter((pattern) => pattern instanceof RegExp)
  const longest = Math.max(...[...words].map((word) => word.split(' ').length))
  const known = new Map<string, boolean>()

  function isSensitiveKey(key: string): boolean {
    const short = key.length > KEY_LIMIT ? key.slice(0, KEY_LIMIT) : key
    let sensitive = known.get(short)
    if (sensitive === undefined) {
      sensitive =
        holdsWord(wordsOf(short), words, longest) || expressions.some((expression) => matches(expression, short))
      if (known.size >= 2000) known.clear()
      known.set(short, sensitive)
    }
    return sensitive
  }

  return { isSensitiveKey, text: (text) => redactText(text, isSensitiveKey) }
}

export const NO_REDACTION: Redactor = { isSensitiveKey: () => false, text: (text) => text }

function wordsOf(key: string): string[] {
  return key
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '')
}

function holdsWord(words: readonly string[], sensitive: ReadonlySet<string>, longest: number): boolean {
  for (let from = 0; from < words.length; from++) {
    for (let length = 1; length <= longest && from + length <= words.length; length++) {
      if (sensitive.has(words.slice(from, from + length).join(' '))) return true
    }
  }
  return false
}

function matches(expression: RegExp, text: string): boolean {
  expression.lastIndex = 0
  return expression.test(text)
}

const MAY_HOLD_SECRET = /[=:@]|eyJ|bearer|basic|\d[\d -]{11}/i
const KEY_VALUE =
  /(["']?)([A-Za-z][\w.-]{0,60})\1(\s{0,2}[=:]\s{0,2})("[^"\n]{1,2000}"|'[^'\n]{1,2000}'|[^\s&,;"'<>()[\]{}]{1,2000})/g
const URL_USER = /([a-z][a-z\d+.-]{1,20}:\/\/)[^\s/@:]{0,200}:[^\s/@]{1,200}@/gi
const SCHEME_TOKEN = /\b(bearer|basic)\s+[\w.~+/=-]{6,4000}/gi
const JSON_WEB_TOKEN = /\beyJ[\w-]{5,4000}\.[\w-]{5,4000}\.[\w-]{0,4000}/g
const CARD_NUMBER = /\b\d(?:[ -]?\d){12,18}\b/g

function redactText(text: string, isSensitiveKey: (key: string) => boolean): string {
  if (!MAY_HOLD_SECRET.test(text)) return text
  return text
    .replace(URL_USER, `$1${FILTERED}@`)
    .replace(SCHEME_TOKEN, `$1 ${FILTERED}`)
    .replace(JSON_WEB_TOKEN, FILTERED)
    .replace(KEY_VALUE, (whole, quote: string, key: string, sign: string, value: string) => {
      if (!isSensitiveKey(key)) return whole
      // `Basic`, `Bearer` stay readable: what follows them was taken out above.
      if (/^(bearer|basic)$/i.test(value)) return whole
      return `${quote}${key}${quote}${sign}${FILTERED}`
    })
    .replace(CARD_NUMBER, (digits) => (passesLuhn(digits.replace(/\D/g, '')) ? FILTERED : digits))
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
