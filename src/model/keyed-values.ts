import type { IsSensitiveKey } from './sensitive-keys.js'

/** As written into a query, perhaps of an address within an address within an address: `%3D`, `%253D`. */
const ENCODED = '%(?:25){0,3}'
const NAME = '[\\p{L}\\p{N}_.-]'
/** The digits of an encoded character belong to no word: the key in `%3Ftoken` is `token`. */
const ENCODED_START = `(?:(?<!${NAME})(?<!%(?=[\\da-f]{2}))|(?<=${ENCODED}[\\da-f]{2})(?<!${ENCODED}25(?=[\\da-f]{2})))`

/**
 * A key and its sign, perhaps with the word before it: `api key: `, `"password":`, `\"token\":`, `secret=>`. It begins
 * only where a word begins, or each letter of a long word would be tried as the beginning of a key.
 */
const KEY_AND_SIGN = new RegExp(
  `(?<!${NAME})(?:(\\p{L}{2,20}) )?(${NAME}+)\\\\{0,7}["']?\\s{0,2}(=>?|:(?!:|\\/\\/))\\s{0,2}`,
  'giu',
)
/** The same with brackets, and with any of the signs encoded: `user[password]=`, `(pin)=`, `token%3D`, `%22pin%22:`. */
const ANY_KEY_AND_SIGN = new RegExp(
  `${ENCODED_START}(?:(\\p{L}{2,20}) )?(${NAME}+(?:(?:\\[|${ENCODED}5b)${NAME}*(?:\\]|${ENCODED}5d)){0,6})` +
    `\\\\{0,7}(?:["']|(?:${ENCODED}5c)?${ENCODED}2[27])?(?:\\s{0,2}|\\+|%20)([)\\]]?=>?|${ENCODED}3[ad]|:(?!:|\\/\\/))\\s{0,2}`,
  'giu',
)
/** Few texts need the second one, which takes longer. */
const NEEDS_ANY = /%|[\])]["'\\\s]{0,10}[=:]/
const KEY_SIGN = /[=:]|%(?:25){0,3}3[ad]/i
const ENCODED_BRACKET = /%(?:25){0,3}5[bd]/gi
/** Of a longer key the end tells what it is for. */
const KEY_LENGTH = 200

const QUOTED = /(\\{1,7}["'])(?:(?!\1)[^\n])*(?:\1)?|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/y
const PLAIN = /\([^)\n]*\)?|[^\s&,;"'<>)\]}]+/y
/** What stands between encoded quotation marks; an encoded list or object goes to the end of its parameter. */
const ENCODED_VALUE =
  /(?:\+|%20){0,4}(?:%(?:25){0,3}2[27](?:%(?:25){0,3}5c%[\da-f]{2}|[^\s&#%]|%(?!(?:25){0,3}2[27]))*(?:%(?:25){0,3}2[27])?|%(?:25){0,3}[57]b[^\s&#]*)/iy
const BEHIND_ENCODED_SIGN = /(?:[^\s&#,;"'<>%]|%(?!2[236]))+/y
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y
const SOURCE_FILE = /\.(?:[cm]?[jt]sx?|vue|svelte|json|html?)$/

/** The text with `filtered` in place of every value that stands behind a sensitive key. */
export function withoutKeyedValues(text: string, filtered: string, isSensitiveKey: IsSensitiveKey): string {
  if (!KEY_SIGN.test(text)) return text
  let result = ''
  let done = 0
  const keys = NEEDS_ANY.test(text) ? ANY_KEY_AND_SIGN : KEY_AND_SIGN
  keys.lastIndex = 0
  for (let match = keys.exec(text); match; match = keys.exec(text)) {
    const [, before, key = '', sign = ''] = match
    if (!isSensitiveName(key.slice(-KEY_LENGTH), before, isSensitiveKey)) continue
    const start = keys.lastIndex
    const end = endOfValue(text, start, sign.startsWith('%'))
    if (end === start) continue
    result += text.slice(done, start) + filtered
    done = end
    keys.lastIndex = end
  }
  return result + text.slice(done)
}

function isSensitiveName(key: string, before: string | undefined, isSensitiveKey: IsSensitiveKey): boolean {
  // `token.js:12` is a place in the code.
  if (SOURCE_FILE.test(key)) return false
  const name = key.includes('%') ? key.replace(ENCODED_BRACKET, ' ') : key
  if (isSensitiveKey(name)) return true
  return before !== undefined && !isSensitiveKey(before) && isSensitiveKey(`${before} ${name}`)
}

function endOfValue(text: string, start: number, encoded: boolean): number {
  const first = text[start]
  if (first === '[' || first === '{') return endOfNested(text, start)
  return (
    endOf(QUOTED, text, start) ??
    endOf(ENCODED_VALUE, text, start) ??
    endOf(encoded ? BEHIND_ENCODED_SIGN : PLAIN, text, start) ??
    start
  )
}

function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Behind the bracket that closes the first one; a list that was cut off goes to the end of the text. */
function endOfNested(text: string, start: number): number {
  let depth = 0
  for (let i = start; i < text.length; i++) {
    const sign = text[i]
    if (sign === '[' || sign === '{') depth++
    else if (sign === ']' || sign === '}') {
      if (--depth === 0) return i + 1
    } else if (sign === '\\') i++
    else if (sign === '"' || sign === "'") i = (endOf(STRING, text, i) ?? i + 1) - 1
  }
  return text.length
}
