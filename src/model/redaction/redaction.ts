import { withoutChosenPasswords } from './chosen-passwords.js'
import { withoutOptionValues, withoutProgramPasswords } from './command-lines.js'
import { withoutUrlCredentials } from './credentials-in-urls.js'
import { endOfAnyValue, withoutKeyedValues } from './keyed-values.js'
import { withoutPairedValues } from './name-value-pairs.js'
import { withoutSecretsInSentences } from './secrets-in-sentences.js'
import { type IsSensitiveKey, type SensitiveKeys, sensitiveKeys, sensitiveWords } from './sensitive-keys.js'
import { withoutStatementLiterals } from './statement-literals.js'
import { COMMAND_OPTION, LONG_RUN, SEPARATOR, scanText, URL_CHARACTER } from './text-scan.js'
import { withoutTokens } from './token-shapes.js'

export const FILTERED = '[FILTERED]'

/** Recognizes sensitive keys and removes secrets from free text. */
export interface Redactor {
  isSensitiveKey: IsSensitiveKey
  text(text: string): string
}

/** Creates a redactor for the built-in words and the host's own patterns. */
export function createRedactor(patterns: readonly (string | RegExp)[] = []): Redactor {
  const keys = { isSensitiveKey: sensitiveKeys(patterns), mayNameSecret: sensitiveWords(patterns) }
  return { isSensitiveKey: keys.isSensitiveKey, text: cacheHarmlessTexts((text) => redactText(text, keys)) }
}

const MAX_CACHED_TEXTS = 500
const MAX_CACHED_LENGTH = 300

/**
 * Skips texts that were searched before and contain no secret, such as user agents and repeated messages. Texts with a
 * secret are not cached, so that no secret stays in memory.
 */
function cacheHarmlessTexts(redact: (text: string) => string): (text: string) => string {
  let harmless = new Set<string>()
  // Repeated texts stay longer than unique texts, such as user ids.
  let older = new Set<string>()
  return (text) => {
    if (text.length > MAX_CACHED_LENGTH) return redact(text)
    if (harmless.has(text)) return text
    const redacted = older.has(text) ? text : redact(text)
    if (redacted === text) {
      if (harmless.size >= MAX_CACHED_TEXTS) {
        const recycled = older
        older = harmless
        harmless = recycled
        harmless.clear()
      }
      harmless.add(text)
    }
    return redacted
  }
}

export const NO_REDACTION: Redactor = { isSensitiveKey: () => false, text: (text) => text }

/** These headers contain several words, some of them quoted, to the end of the line. */
const SECRET_HEADER =
  /(?:\b|(?<=\\[nr]))((?:proxy-)?authorization|(?:set-)?cookie)(\s{0,20}[:=]\s{0,20})(?![\s"'\\])(?:=\s{0,2}\\{0,7}"[^"\n]*"?|=\s{0,2}\\{0,7}'[^'\n]*'?|[^\n"'}]|(?<=\w)'(?=\w))+/gi
const HEADER_HINT = /authorization|cookie/i
const XML_ELEMENT =
  /(<([\p{Alphabetic}_][\p{ID_Continue}:.-]{0,80})(\s[^<>\n]{0,200})?>)(?:<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|[^<]+(?=<\/))/gu

const NAME_ATTRIBUTE = /\s(?:name|key|id|field)\s{0,3}=\s{0,3}["']([^"']{1,80})/

/** Non-ASCII letters in a URL: the key in `%D0%BF…=` is a word. */
const ENCODED_LETTERS = /(?:%[c-f][\da-f](?:%[89ab][\da-f]){1,3})+/gi
/** A URL value with encoded characters. Matches only after a separator, so that no part is read twice. */
const ENCODED_VALUE = /(?<![^\s&?#"<>=])[^\s&?#"<>=%]*%[\da-f]{2}[^\s&#"<>=]*/gi
const MAX_ENCODING_DEPTH = 3

/** Decodes, redacts and re-encodes values: a statement in a parameter is still a statement. */
function redactText(text: string, keys: SensitiveKeys, depth = 0): string {
  if (!text.includes('%') || depth >= MAX_ENCODING_DEPTH) return redactPlain(text, keys)
  // Before decoding: an encoded @ in a username does not end the credentials.
  const withoutUserInfo = text.includes('%40') && text.includes('@') ? withoutUrlCredentials(text, FILTERED) : text
  const withoutEncodedSecrets = withoutUserInfo.replace(ENCODED_VALUE, (value) => {
    const decoded = decodeIfValid(value.replaceAll('+', ' '))
    const safe = redactText(decoded, keys, depth + 1)
    if (safe === decoded) return value
    const encoded = encodeOrFilter(safe)
    return value.includes('/') ? encoded.replaceAll('%2F', '/') : encoded
  })
  const decodedLetters = withoutEncodedSecrets.replace(ENCODED_LETTERS, decodeIfValid)
  const redacted = redactPlain(decodedLetters, keys)
  return redacted === decodedLetters ? withoutEncodedSecrets : redacted
}

function decodeIfValid(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    // Not valid UTF-8 as a whole. Decoding ASCII is enough to find the names of secrets.
    return encoded.replace(/%([0-7][\da-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  }
}

function encodeOrFilter(text: string): string {
  try {
    return encodeURIComponent(text).replaceAll(encodeURIComponent(FILTERED), FILTERED)
  } catch {
    return FILTERED
  }
}

// No pattern limits the length of a secret; otherwise its tail would remain. Each is linear: repeated parts cannot
// overlap.
function redactPlain(text: string, { isSensitiveKey, mayNameSecret }: SensitiveKeys): string {
  const features = scanText(text)
  let result = withoutTokens(text, FILTERED, features)
  if ((features & (SEPARATOR | COMMAND_OPTION | LONG_RUN)) === 0)
    return withoutChosenPasswords(result, features, FILTERED, isSensitiveKey)
  if (features & URL_CHARACTER) result = withoutUrlCredentials(result, FILTERED)
  const mayHaveKey = mayNameSecret(result, features)
  if (features & COMMAND_OPTION) {
    if (mayHaveKey) result = withoutOptionValues(result, FILTERED, isSensitiveKey)
    result = withoutProgramPasswords(result, FILTERED)
  }
  if (!mayHaveKey) return result
  if (HEADER_HINT.test(result)) result = result.replace(SECRET_HEADER, `$1$2${FILTERED}`)
  if (result.includes('</')) {
    result = result.replace(XML_ELEMENT, (part, start: string, name: string, attributes?: string) =>
      isSensitiveKey(name) || isSensitiveKey(NAME_ATTRIBUTE.exec(attributes ?? '')?.[1] ?? '')
        ? start + FILTERED
        : part,
    )
  }
  result = withoutStatementLiterals(result, FILTERED, isSensitiveKey)
  result = withoutPairedValues(result, FILTERED, isSensitiveKey, endOfAnyValue)
  result = withoutKeyedValues(result, FILTERED, isSensitiveKey)
  if (features & LONG_RUN) result = withoutSecretsInSentences(result, FILTERED, isSensitiveKey)
  return withoutChosenPasswords(result, features, FILTERED, isSensitiveKey)
}
