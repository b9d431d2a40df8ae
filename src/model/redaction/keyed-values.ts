import { isPasswordKey, keyWords, SENSITIVE_PHRASES } from './key-words.js'
import type { IsSensitiveKey } from './sensitive-keys.js'

/** Percent-encoding, up to three levels deep for URLs inside URLs: `%3D`, `%253D`. */
const ENCODED = '%(?:25){0,3}'
/** Letters, digits, marks and underscores. Parsing `\p{L}\p{N}\p{M}` instead takes 20 times as long at startup. */
const NAME = '[\\p{ID_Continue}.-]'
/** The digits of an encoded character are not part of a word: the key in `%3Ftoken` is `token`. */
const ENCODED_START = `(?:(?<!${NAME})(?<!%(?=[\\da-f]{2}))|(?<=${ENCODED}[\\da-f]{2})(?<!${ENCODED}25(?=[\\da-f]{2})))`
/** HTML entity for a quotation mark. */
const ENTITY = '&(?:quot|apos|#0?3[49]|#x2[27]);'
const SEPARATOR = '={1,3}>?|:=|:(?!:|\\/\\/)|[：＝]'

/**
 * A key and its separator, optionally with the word before it: `api key: `, `"password":`, `\"token\":`, `secret=>`.
 * Matches only at the start of a word; otherwise each letter of a long word would be tried as the start of a key.
 */
const KEY_AND_SEPARATOR = new RegExp(
  `(?<!${NAME})(?:(\\p{Alphabetic}{2,20}) )?(${NAME}+)(\\\\{0,15}["'\`]?|${ENTITY})\\s{0,20}(${SEPARATOR})\\s{0,20}`,
  'giu',
)
/** Also matches brackets and encoded separators: `user[password]=`, `(pin)=`, `token%3D`, `%22pin%22:`. */
const ANY_KEY_AND_SEPARATOR = new RegExp(
  `${ENCODED_START}(?:(\\p{Alphabetic}{2,20}) )?(${NAME}+(?:(?:\\[|${ENCODED}5b)${NAME}*(?:\\]|${ENCODED}5d)){0,6})` +
    `(\\\\{0,15}(?:["'\`]|${ENTITY}|(?:${ENCODED}5c)?${ENCODED}2[27])?[)\\]]?)(?:\\s{0,20}|\\+|%20)(${SEPARATOR}|${ENCODED}3[ad])\\s{0,20}`,
  'giu',
)
/** Few texts need the slower second pattern. */
const NEEDS_ANY_KEY = /%|[\])]["'`\\\s]{0,30}[=:]/
const ANY_SEPARATOR = /[=:：＝]|%(?:25){0,3}3[ad]/i
/** A key and a value in columns, separated by a tab or several spaces. */
const KEY_AND_GAP = new RegExp(`(?<!${NAME})(${NAME}{2,100})(?:\\t[\\t ]{0,19}| {3,20})(?=[^\\s=:|])`, 'giu')
const COLUMN_GAP = /\t| {3}/
const ENCODED_BRACKET = /%(?:25){0,3}5[bd]/gi
/** The end of a longer key is enough to recognize it. */
const MAX_KEY_LENGTH = 200

const QUOTED_VALUE =
  /(\\{1,15}["'])(?:(?!\1)[^\n])*(?:\1)?|(&(?:quot|apos|#0?3[49]|#x2[27]);)(?:(?!\2)[^\n])*(?:\2)?|[a-z]{0,2}&?(?:"(?:[^"\\\n]|\\.|"")*"?|'(?:[^'\\\n]|\\.|''|(?<=\w)'(?=\w))*'?|`(?:[^`\\\n]|\\.)*`?)/iy
/** A YAML block: the indented lines below `|` or `>`. */
const YAML_BLOCK = /[|>][+-]?\d?[ \t]{0,20}\r?\n(?:[ \t]{1,200}[^\n]*(?:\n|$)|[ \t]{0,200}\r?\n)+/y
const FUNCTION_NAME = /[a-z_$][\w$.]{0,60}(?=\()/iy
const PLAIN_VALUE = /\([^)\n]*\)?|[^\s&,;"'<>)\]}]+/y
/** A value between encoded quotation marks. An encoded list or object extends to the end of its parameter. */
const ENCODED_VALUE =
  /(?:\+|%20){0,4}(?:%(?:25){0,3}2[27](?:%(?:25){0,3}5c%[\da-f]{2}|[^\s&#%]|%(?!(?:25){0,3}2[27]))*(?:%(?:25){0,3}2[27])?|%(?:25){0,3}[57]b[^\s&#]*)/iy
const AFTER_ENCODED_SEPARATOR = /(?:[^\s&#,;"'<>%]|%(?!2[236]))+/y
const QUOTED_STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y
const SOURCE_FILE = /\.(?:[cm]?[jt]sx?|vue|svelte|json|html?)$/

/** A separator inside an unquoted value, unless another key or the end of a sentence follows it. */
const INNER_SEPARATOR =
  /[,;&'"](?![\s,;&'"<>)\]}]|$)(?!\s{0,3}\\{0,15}["']?[\p{ID_Continue}.[\]-]{1,60}["']?\s{0,3}[=:])/uy
/** Another word of a password, unless it is the next key. */
const NEXT_WORD =
  /[ \t]{1,20}(?![\p{ID_Continue}.[\]-]{1,60}\\{0,15}["']?\s{0,3}[=:])(?:[^\s,;&"'<>()[\]{}|=:]|(?<=\S)'(?=\p{ID_Continue}))+/uy
const MAX_WORDS = 30
/** Begins a sentence about the secret rather than the secret: "password: must be at least 8 characters". */
const SENTENCE_START =
  /(?:must|should|cannot|can't|could|may|might|is|isn't|are|was|were|has|have|had|does|did|do|not|no|too|required|missing|expired|invalid|incorrect|wrong|mismatch|malformed|unexpected|unsupported|unknown|unable|failed|failure|expected|please|enter|path|this field|value|string must|at least|yes(?=\)))(?=[\s.,;:!)`]|$)/iy
/** Placeholders of a statement or a template. */
const PLACEHOLDER =
  /(?:\?|\$\d{1,3}|%s|\$\{[\w.]{1,60}\}|\{\{[\w. ]{1,60}\}\}|true|false|null|undefined|<[a-z][\w -]{1,30}>|\*{3,})(?=[\s,;)"'&`}]|$)/iy
/** Prefixes of log lines rather than keys, where ordinary words follow: "auth: user logged in". */
const LOG_LABEL = /^(?:auth|authentication|oauth|sessions?|cards?|cookies?|assertion)$/i
const ORDINARY_WORDS = /[A-Za-z][a-z']{1,20} (?=\S)/y

const BLANKS: ReadonlySet<string> = new Set(' \t\n\r')

/** Replaces every value after a sensitive key with `filtered`. */
export function withoutKeyedValues(text: string, filtered: string, isSensitiveKey: IsSensitiveKey): string {
  const searched = COLUMN_GAP.test(text) ? withoutColumns(text, filtered, isSensitiveKey) : text
  if (!ANY_SEPARATOR.test(searched)) return searched
  let result = ''
  let copied = 0
  const keys = NEEDS_ANY_KEY.test(searched) ? ANY_KEY_AND_SEPARATOR : KEY_AND_SEPARATOR
  keys.lastIndex = 0
  for (let match = keys.exec(searched); match; match = keys.exec(searched)) {
    const { 1: wordBefore, 2: key = '', 3: quote = '', 4: separator = '' } = match
    if (!isSensitiveName(key.slice(-MAX_KEY_LENGTH), wordBefore, isSensitiveKey)) continue
    const start = keys.lastIndex
    const isSpaced = BLANKS.has(searched[start - 1] ?? '') || separator === '：'
    if (matchEnd(PLACEHOLDER, searched, start) || (isSpaced && quote === '' && isSentence(searched, start, key)))
      continue
    if (isSensitiveInnerKey(searched, start, isSensitiveKey)) {
      keys.lastIndex = start
      continue
    }
    const isPhrase = isSpaced && isPasswordKey(`${wordBefore ?? ''} ${key}`)
    const end = endOfKeyedValue(searched, start, { isEncoded: separator.startsWith('%'), isPhrase })
    if (end === start) continue
    result += searched.slice(copied, start) + filtered
    copied = end
    keys.lastIndex = end
  }
  return result + searched.slice(copied)
}

function withoutColumns(text: string, filtered: string, isSensitiveKey: IsSensitiveKey): string {
  let result = ''
  let copied = 0
  for (const { 0: start, 1: key = '', index } of text.matchAll(KEY_AND_GAP)) {
    const from = index + start.length
    if (from < copied || !isSensitiveKey(key) || matchEnd(PLACEHOLDER, text, from) || isSentence(text, from, key))
      continue
    const end = endOfKeyedValue(text, from, { isEncoded: false, isPhrase: false })
    result += text.slice(copied, from) + filtered
    copied = end
  }
  return result + text.slice(copied)
}

function isSensitiveName(key: string, wordBefore: string | undefined, isSensitiveKey: IsSensitiveKey): boolean {
  // `token.js:12` is a code location.
  if (SOURCE_FILE.test(key)) return false
  const name = key.includes('%') ? key.replace(ENCODED_BRACKET, ' ') : key
  if (isSensitiveKey(name)) return true
  if (wordBefore === undefined) return false
  if (isSensitiveKey(wordBefore)) {
    if (SENSITIVE_PHRASES.has(`${wordBefore} ${name}`.toLowerCase())) return true
    return /^(?:is|was)$/i.test(name) && isPasswordKey(wordBefore)
  }
  return keyWords(name).length === 1 && isSensitiveKey(`${wordBefore} ${name}`)
}

/** `login: password=>"S"`: the value is a key with a value of its own. */
const INNER_KEY = /([\p{ID_Continue}.-]{1,80})\\{0,15}["']?\s{0,3}=>?/uy

function isSensitiveInnerKey(text: string, start: number, isSensitiveKey: IsSensitiveKey): boolean {
  INNER_KEY.lastIndex = start
  const key = INNER_KEY.exec(text)?.[1]
  return key !== undefined && isSensitiveKey(key)
}

function isSentence(text: string, start: number, key: string): boolean {
  if (matchEnd(SENTENCE_START, text, start) !== undefined) return true
  return LOG_LABEL.test(key) && matchEnd(ORDINARY_WORDS, text, start) !== undefined
}

/** The end of a value of any form: quoted, a list, an object, a call, or plain. */
export function endOfAnyValue(text: string, start: number): number {
  return endOfKeyedValue(text, start, { isEncoded: false, isPhrase: false })
}

interface ValueForm {
  isEncoded: boolean
  /** True if the value may have several words. */
  isPhrase: boolean
}

function endOfKeyedValue(text: string, start: number, { isEncoded, isPhrase }: ValueForm): number {
  const first = text[start]
  if (first === '[' || first === '{') return endOfNested(text, start)
  if (first === '|' || first === '>') {
    const block = matchEnd(YAML_BLOCK, text, start)
    if (block !== undefined) return block
  }
  const quoted = matchEnd(QUOTED_VALUE, text, start) ?? matchEnd(ENCODED_VALUE, text, start)
  if (quoted !== undefined) return quoted
  if (isEncoded) return matchEnd(AFTER_ENCODED_SEPARATOR, text, start) ?? start
  const call = matchEnd(FUNCTION_NAME, text, start)
  if (call !== undefined) return endOfNested(text, call)
  let end = matchEnd(PLAIN_VALUE, text, start)
  if (end === undefined) return start
  for (let next = matchEnd(INNER_SEPARATOR, text, end); next !== undefined; next = matchEnd(INNER_SEPARATOR, text, end))
    end = matchEnd(PLAIN_VALUE, text, next) ?? next
  return isPhrase ? endOfPhrase(text, end) : end
}

function endOfPhrase(text: string, start: number): number {
  let end = start
  for (let words = 0; words < MAX_WORDS; words++) {
    const next = matchEnd(NEXT_WORD, text, end)
    if (next === undefined) break
    end = next
  }
  return end
}

function matchEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/**
 * Returns the position after the bracket that closes the first bracket. A truncated list extends to the end of the
 * text.
 */
function endOfNested(text: string, start: number): number {
  let depth = 0
  for (let i = start; i < text.length; i++) {
    const character = text[i]
    if (character === '[' || character === '{' || character === '(') depth++
    else if (character === ']' || character === '}' || character === ')') {
      if (--depth === 0) return i + 1
    } else if (character === '\\') i++
    else if (character === '"' || character === "'") i = (matchEnd(QUOTED_STRING, text, i) ?? i + 1) - 1
  }
  return text.length
}
