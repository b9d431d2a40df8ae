export type IsSensitiveKey = (key: string) => boolean

/** One word, or several that stand side by side: `apiKey`, `api_key`, `x-api-key` all hold `api key`. */
const SENSITIVE_WORDS: ReadonlySet<string> = new Set([
  'password', 'passwords', 'passwd', 'pwd', 'passphrase', 'passcode', 'pass', 'secret', 'secrets', 'token', 'tokens', 'jwt',
  'bearer', 'authorization', 'auth', 'authentication', 'oauth', 'credential', 'credentials', 'cookie', 'cookies', 'session',
  'sessions', 'sid', 'api key', 'api keys', 'access key', 'private key', 'encryption key', 'signing key', 'secret key',
  'amz signature', 'account key', 'otp', 'totp', 'mfa code', 'pin', 'card', 'cards', 'credit card', 'cvv', 'cvc', 'iban', 'account number',
  'routing number', 'ssn', 'social security', 'csrf', 'xsrf', 'dsn', 'connection string', 'database url',
]) // biome-ignore format: a word list reads best as lines of words

/** Words run together without a sign between them, which mean a secret wherever they stand inside a word. */
const INSIDE_A_WORD =
  /passw(?:or)?d|passphrase|apikey|(?:access|auth|refresh|session|csrf|xsrf|id)token|sess(?:ion)?id|(?:private|secret|access|account|encryption|signing)key|clientsecret|creditcard|cardnumber/

/** `session_count`, `token_type`, `TokenError`, `max_tokens` tell something about a secret, and are none. */
const ONLY_ABOUT_A_SECRET = {
  last: new Set('count counts length size total limit ttl type expires expiry at error errors exception'.split(' ')),
  first: new Set('max min total num has is'.split(' ')),
}

const KEY_LIMIT = 200
const REMEMBERED = 2000

/**
 * Tells sensitive keys by the built-in words and the host's own patterns. Words match as whole words of a key, so
 * `shipping` is not `pin`; a RegExp of the host is tried against the whole key.
 */
export function sensitiveKeys(patterns: readonly (string | RegExp)[]): IsSensitiveKey {
  const words = new Set(patterns.filter((p) => typeof p === 'string').map((p) => wordsOf(p).join(' ')))
  const expressions = patterns.filter((pattern) => pattern instanceof RegExp)
  const isSensitive = (key: string): boolean => {
    const parts = wordsOf(key)
    if (holdsWord(parts, words) || expressions.some((expression) => matches(expression, key))) return true
    return (holdsWord(parts, SENSITIVE_WORDS) || parts.some((part) => INSIDE_A_WORD.test(part))) && !isOnlyAbout(parts)
  }
  const known = new Map<string, boolean>()
  return (key) => {
    // The words that matter stand at either end of a key, however long somebody made it.
    const short = key.length > 2 * KEY_LIMIT ? `${key.slice(0, KEY_LIMIT)} ${key.slice(-KEY_LIMIT)}` : key
    const remembered = known.get(short)
    if (remembered !== undefined) return remembered
    if (known.size >= REMEMBERED) known.clear()
    const answer = isSensitive(short)
    known.set(short, answer)
    return answer
  }
}

/** `newPassword2` is `new`, `password`. */
function wordsOf(key: string): string[] {
  return key
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.replace(/(?<=\D)\d+$/, ''))
    .filter((word) => word !== '')
}

function holdsWord(words: readonly string[], sensitive: ReadonlySet<string>): boolean {
  if (sensitive.size === 0) return false
  return words.some(
    (word, i) =>
      sensitive.has(word) ||
      sensitive.has(`${word} ${words[i + 1]}`) ||
      sensitive.has(`${word} ${words[i + 1]} ${words[i + 2]}`),
  )
}

function isOnlyAbout(words: readonly string[]): boolean {
  const { first, last } = ONLY_ABOUT_A_SECRET
  return first.has(words[0] ?? '') || last.has(words.at(-1) ?? '')
}

function matches(expression: RegExp, text: string): boolean {
  expression.lastIndex = 0
  return expression.test(text)
}
