import { isIPv6 } from 'node:net'
import { hideCodes, hideDigits, hideIdentifiers, restoreHidden } from './kept-phrases.js'
import { type MessageShape, messageShape } from './message-shape.js'
import { replaceIds } from './variable-tokens.js'

/** Long enough to distinguish messages. */
const MAX_NORMALIZED_LENGTH = 1000
/** Larger than the result, so that the length of a variable part does not change where the result is truncated. */
const MAX_SCANNED_LENGTH = 2500

/**
 * Replaces everything that varies between occurrences with a placeholder for its kind. Keeps HTTP status codes, error
 * codes and identifiers in messages of engines and drivers.
 * @example normalizeMessage('Order ord_8fK2lmP of "anna" failed with status 503') // 'Order ord_<number> of <value>
 * failed with status 503'
 */
export function normalizeMessage(message: string): string {
  const scanned = message.length > MAX_SCANNED_LENGTH ? message.slice(0, MAX_SCANNED_LENGTH) : message
  const normalized = replaceVariables(scanned, messageShape(scanned))
  return normalized.length > MAX_NORMALIZED_LENGTH ? normalized.slice(0, MAX_NORMALIZED_LENGTH) : normalized
}

const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? '
const MONTH_NAME = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const CLOCK_TIME = '[T ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?'
const ZONE = ' ?(?:Z\\b|(?:GMT|UTC)?[+-]\\d\\d:?\\d\\d|GMT|UTC)(?: \\([A-Za-z ]{3,60}\\))?'

const TIME_OF_DAY = `(?:${CLOCK_TIME}(?:${ZONE})?)?`

/** A date in ISO 8601 or PostgreSQL format, with or without the time of day. */
const ISO_TIME = new RegExp(`\\b\\d{4}-\\d\\d-\\d\\d${TIME_OF_DAY}`, 'g')
/** A date as printed by `Date.toString` or `toUTCString`. */
const NAMED_TIME = new RegExp(
  `(?:\\b${DAY_NAME})?\\b(?:${MONTH_NAME} \\d{1,2},? \\d{4}|\\d{1,2} ${MONTH_NAME} \\d{4})${TIME_OF_DAY}`,
  'g',
)
const MAY_HAVE_MONTH = /(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6} \d/
/** A date printed by `toLocaleString` in American English, which puts a narrow space before AM and PM. */
const LOCALE_TIME = /\b\d{1,2}\/\d{1,2}\/\d{4}, \d{1,2}:\d\d(?::\d\d)?[ \u202f][AP]M\b/g
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const EMAIL = /[\w.%+\u00c0-\u024f-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g
const TEMP_PATH =
  /(?:\/private)?\/(?:tmp|var\/folders|var\/tmp)\/[^\s'"`:)]{1,400}|[a-z]:\\[^\s'"`:)]{0,200}\\te?mp\\[^\s'"`:)]{1,400}/gi

/**
 * Engines print an ellipsis on either side of a snippet of the input. A backslash escapes the quotation mark
 * after it, unless it is the last character of a path.
 */
const QUOTED =
  /(?:\.{3}|…)?(?:"(?:[^"\\\n]|\\[^\n]){0,1000}"|"[^"\n]{0,1000}"|`[^`\n]{0,1000}`|“[^”\n]{0,1000}”|«[^»\n]{0,1000}»)(?:\.{3}|…)?/g
/** An apostrophe is a quotation mark only where a word cannot continue: "can't find user's order" has none. */
const SINGLE_QUOTED = /'(?<=(?:^|[\s([{<=:,/|-])')(?:[^'\n]|(?<=\w)'(?=\w)){0,1000}'(?=$|[\s)\]}>,.;:!?/|-])/g
/** JSON.parse quotes its input, which may contain quotation marks and line breaks itself. */
const JSON_SNIPPET = /(?:\.{3})?"[\s\S]{0,60}?"(?:\.{3})? is not valid JSON/g
/** `Cannot use 'in' operator to search for 'x' in` is followed by the value itself. */
const SEARCHED_VALUE = /(\boperator to search for .{1,110}? in )[\s\S]+$/

const IP_V6 =
  /(?<![\w:.])\[?((?:[0-9a-f]{0,4}:){2,8}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?)(?:%\w{1,15})?(?:\](?::\d{1,5})?)?(?![\w:])/gi
const IP_V4 = /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g
const MAC = /(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])/gi

/** Numbers and ids of all kinds share one placeholder, because an id may consist of digits only. */
const NUMBER = /-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?/gi

/**
 * Each pattern is linear: quantifiers are bounded or disjoint. Larger shapes come first. The shape skips searches that
 * cannot match, which are most of the cost; it never changes the result.
 */
export function replaceVariables(message: string, shape: MessageShape): string {
  let text = message
  if (shape.hasQuote && text.includes('is not valid JSON')) {
    text = text.replace(JSON_SNIPPET, '<value> is not valid JSON')
  }
  if (shape.hasQuote || shape.hasApostrophe) {
    text = hideIdentifiers(text, isVariableName)
    if (text.includes('operator to search')) text = text.replace(SEARCHED_VALUE, '$1<value>')
  }
  if (shape.hasDigit) text = hideCodes(text, shape, isVariableName)
  if (shape.mayHaveDate) text = replaceTimes(text, shape)
  if (shape.hasDigit && shape.dashes >= 4) text = text.replace(UUID, '<uuid>')
  if (shape.hasAt) text = text.replace(EMAIL, '<email>')
  if (shape.hasSlash) text = text.replace(TEMP_PATH, '<temp>')
  if (shape.hasQuote) text = text.replace(QUOTED, '<value>')
  if (shape.hasApostrophe) text = text.replace(SINGLE_QUOTED, '<value>')
  if (shape.colons >= 2) {
    text = text.replace(IP_V6, (match, address: string) => (isIPv6(address) ? '<address>' : match))
  }
  if (shape.hasDigit && shape.dots >= 3) text = text.replace(IP_V4, '<address>')
  if (shape.colons >= 5 || shape.dashes >= 5) text = text.replace(MAC, '<address>')
  text = replaceIds(text, shape, hideDigits)
  if (shape.hasDigit) text = text.replace(NUMBER, '<number>')
  return restoreHidden(text)
}

function replaceTimes(text: string, shape: MessageShape): string {
  let result = text
  if (shape.dashes >= 2) result = result.replace(ISO_TIME, '<time>')
  if (shape.hasSlash) result = result.replace(LOCALE_TIME, '<time>')
  return MAY_HAVE_MONTH.test(result) ? result.replace(NAMED_TIME, '<time>') : result
}

function isVariableName(name: string): boolean {
  return replaceIds(name, messageShape(name), (word) => word) !== name
}
