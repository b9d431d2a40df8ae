import { isIPv6 } from 'node:net'
import { hideDigits, keepPhrases, showKept } from './kept-phrases.js'
import { replaceIds } from './variable-tokens.js'

/** Enough to distinguish messages. */
const MAX_NORMALIZED_LENGTH = 1000
/** Read before normalizing, so that the length of a variable part does not move the point at which the text is cut. */
const MAX_SCANNED_LENGTH = 2500

/**
 * The message with everything that varies between occurrences replaced by a word for its kind. Identifiers in messages
 * that an engine or a driver generated, HTTP status codes and error codes stay.
 *
 * @example
 * normalizeMessage('Order ord_8fK2lmP of "anna" failed with status 503') // 'Order ord_<number> of <value> failed with status 503'
 */
export function normalizeMessage(message: string): string {
  const scanned = message.length > MAX_SCANNED_LENGTH ? message.slice(0, MAX_SCANNED_LENGTH) : message
  if (!VARIABLE_CHARACTERS.test(scanned)) return cut(scanned)
  if (isPlain(scanned)) return cut(scanned.replace(/\d+/g, '<number>'))
  const known = remembered.get(scanned)
  if (known !== undefined) return known
  const normalized = cut(replaceVariables(scanned))
  if (scanned.length <= MAX_REMEMBERED_LENGTH) {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(scanned, normalized)
  }
  return normalized
}

/** Messages without ids repeat: `Cannot read properties of undefined (reading 'name')` is normalized once. */
const remembered = new Map<string, string>()
const MAX_REMEMBERED = 300
const MAX_REMEMBERED_LENGTH = 300

function cut(normalized: string): string {
  return normalized.length > MAX_NORMALIZED_LENGTH ? normalized.slice(0, MAX_NORMALIZED_LENGTH) : normalized
}

const VARIABLE_CHARACTERS = /[\d"'`“«@]|::|[a-z]_[A-Za-z]*[A-Z]|[/\\]te?mp[/\\]|\/var\//i

/** Words and whole numbers, each on its own, as most messages with an id have them. */
const WORDS_AND_NUMBERS = /^(?:[A-Za-z]+|\d+)(?:[ ,;!?()#]+(?:[A-Za-z]+|\d+))*[ ,;!?.()#]*$/
const MONTH = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
/** A number that may be a code, part of a date or one with a fraction. Tried at digits only, of which there are few. */
const SPECIAL_NUMBER = new RegExp(
  `\\d(?:(?<=(?:[Ss]tatus|HTTP|[Hh]ttp|[Rr]esponse|[Cc]ode|[Ee]rrno|ERRNO|SQLSTATE|[Ss]qlstate|[Ee]rror|ERROR|STATUS|CODE|${MONTH})[a-z]{0,6}[ ,;!?()#]{1,3}\\d)|(?= (?:${MONTH})|,\\d|\\d\\d [A-Z]))`,
)

/** Whether only whole numbers vary. The patterns below would find the same, in four times the time. */
function isPlain(message: string): boolean {
  return WORDS_AND_NUMBERS.test(message) && !SPECIAL_NUMBER.test(message)
}

const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? '
const MONTH_NAME = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const CLOCK_TIME = '[T ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?'
const ZONE = ' ?(?:Z\\b|(?:GMT|UTC)?[+-]\\d\\d:?\\d\\d|GMT|UTC)(?: \\([A-Za-z ]{3,60}\\))?'

/** A date in the words of `Date.toString`, `toUTCString` or ISO 8601, with or without the time of day. */
const TIME = new RegExp(
  `(?:(?:\\b${DAY_NAME})?\\b(?:${MONTH_NAME} \\d{1,2},? \\d{4}|\\d{1,2} ${MONTH_NAME} \\d{4})|\\b\\d{4}-\\d\\d-\\d\\d)(?:${CLOCK_TIME}(?:${ZONE})?)?`,
  'g',
)
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const EMAIL = /[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g
const TEMP_PATH =
  /(?:\/private)?\/(?:tmp|var\/folders|var\/tmp)\/[^\s'"`:)]{1,400}|[a-z]:\\[^\s'"`:)]{0,200}\\te?mp\\[^\s'"`:)]{1,400}/gi

/** Engines print an ellipsis on either side of a snippet that they cut out of the input. */
const QUOTED = /(?:\.{3}|…)?(?:"[^"\n]{0,1000}"|`[^`\n]{0,1000}`|“[^”\n]{0,1000}”|«[^»\n]{0,1000}»)(?:\.{3}|…)?/g
/** An apostrophe is a quotation mark only where a word cannot go on: "can't find user's order" has none. */
const SINGLE_QUOTED = /(?<=^|[\s([{<=:,/|-])'[^'\n]{0,1000}'(?=$|[\s)\]}>,.;:!?/|-])/g
/** JSON.parse quotes its input, which may contain quotation marks itself. */
const JSON_SNIPPET = /(?:\.{3})?"[^\n]{0,60}?"(?:\.{3})? is not valid JSON/g
/** `Cannot use 'in' operator to search for 'x' in` is followed by the value itself. */
const SEARCHED_VALUE = /(\boperator to search for .{1,110}? in )[\s\S]+$/

const IP_V6 =
  /(?<![\w:.])\[?((?:[0-9a-f]{0,4}:){2,8}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?)(?:%\w{1,15})?(?:\](?::\d{1,5})?)?(?![\w:])/gi
const IP_V4 = /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g

/** Numbers and ids of all kinds share one word: an id may by chance consist of digits only. */
const HEX = /\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b/gi
const NUMBER = /-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?/gi

/** Each pattern is linear: bounded or disjoint quantifiers. The order matters: larger shapes come first. */
function replaceVariables(message: string): string {
  let text = message
  if (text.includes('is not valid JSON')) text = text.replace(JSON_SNIPPET, '<value> is not valid JSON')
  text = keepPhrases(text, isVariableName)
  if (text.includes('operator to search')) text = text.replace(SEARCHED_VALUE, '$1<value>')
  const hasDigit = /\d/.test(text)
  if (hasDigit) text = text.replace(TIME, '<time>')
  if (hasDigit && text.includes('-')) text = text.replace(UUID, '<uuid>')
  if (text.includes('@')) text = text.replace(EMAIL, '<email>')
  text = text.replace(TEMP_PATH, '<temp>').replace(QUOTED, '<value>')
  if (text.includes("'")) text = text.replace(SINGLE_QUOTED, '<value>')
  if (text.includes(':'))
    text = text.replace(IP_V6, (found, address: string) => (isIPv6(address) ? '<address>' : found))
  if (hasDigit) text = text.replace(IP_V4, '<address>')
  text = replaceIds(text, hideDigits)
  if (hasDigit) text = text.replace(HEX, '<number>').replace(NUMBER, '<number>')
  return showKept(text)
}

function isVariableName(name: string): boolean {
  return replaceIds(name.replace(HEX, '<number>'), (word) => word) !== name
}
