import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { type Frame, parseFrame } from './backtrace.js'
import type { ClientSource } from './event.js'

export interface SignatureParts {
  error_type: string
  /** As `normaliseMessage` gives it. */
  message: string
  /** As `placeOf` gives it. */
  place: readonly string[]
  /** Set for client errors, which never share a signature with errors of the server. */
  source?: ClientSource | undefined
}

/** How many frames of the host's own code tell one place from another. */
const PLACE_FRAMES = 3
const MESSAGE_LIMIT = 1000
const SCAN_LIMIT = 50

/** What stands for the message where too many different ones came from one place to have a group each. */
export const MANY_MESSAGES = '<many messages>'

/** The grouping key: SHA-256 over error type, normalised message and the place in the host's own code. */
export function signatureOf({ error_type, message, place, source }: SignatureParts): string {
  return sha256(withSource([error_type, message, ...place].join('\n'), source))
}

/** The grouping key of a host that decides for itself what belongs together. */
export function fingerprintSignature(fingerprint: string, source?: ClientSource): string {
  return sha256(withSource(`fingerprint\n${fingerprint}`, source))
}

/** Captured text never contains NUL, so no server error produces the same input. */
function withSource(text: string, source: ClientSource | undefined): string {
  return source === undefined ? text : `\0client:${source}\n${text}`
}

/**
 * File and function of the first frames in the host's own code, without line or column: neither an edit above the
 * place nor a deployment to another folder makes a new group. Recursion counts once.
 */
export function placeOf(backtrace: readonly string[], root: string): string[] {
  const own: string[] = []
  let first: string | undefined
  for (const line of backtrace.slice(0, SCAN_LIMIT)) {
    const frame = parseFrame(line, root)
    const place = stablePlace(frame)
    first ??= place
    if (frame.in_app && !own.includes(place)) own.push(place)
    if (own.length === PLACE_FRAMES) break
  }
  return own.length > 0 ? own : first ? [first] : []
}

/** The message with everything that differs from one occurrence to the next replaced by a word for its kind. */
export function normaliseMessage(message: string): string {
  const short = message.length > MESSAGE_LIMIT ? message.slice(0, MESSAGE_LIMIT) : message
  if (!VARIABLE_CHARACTERS.test(short)) return short
  return VARIABLE_PARTS.reduce((text, replace) => replace(text), short)
}

const VARIABLE_CHARACTERS = /[\d"'`“«@]|::|[/\\]te?mp[/\\]|\/var\//i

const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? '
const MONTH_NAME = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const CLOCK_TIME = '[T ]\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?'
const ZONE = ' ?(?:Z\\b|(?:GMT|UTC)?[+-]\\d\\d:?\\d\\d|GMT|UTC)(?: \\([A-Za-z ]{3,60}\\))?'

/** A date in the words of `Date.toString`, `toUTCString` or ISO 8601, with or without the time of day. */
const TIME = new RegExp(
  `(?:(?:\\b${DAY_NAME})?\\b(?:${MONTH_NAME} \\d{1,2},? \\d{4}|\\d{1,2} ${MONTH_NAME} \\d{4})|\\b\\d{4}-\\d\\d-\\d\\d)(?:${CLOCK_TIME}(?:${ZONE})?)?`,
  'g',
)

const IP_V6 =
  /(?<![\w:.])\[?((?:[0-9a-f]{0,4}:){2,8}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?)(?:%\w{1,15})?(?:\](?::\d{1,5})?)?(?![\w:])/gi

/** Numbers and hexadecimal ids share one word: an id of either kind may by chance hold digits only. */
const NUMBER = /\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b|-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?/gi

/** Replaces what fits the pattern; a look for a character it cannot do without is far cheaper than the search itself. */
const swap = (pattern: RegExp, word: string, needs?: string) => (text: string) =>
  needs === undefined || text.includes(needs) ? text.replace(pattern, word) : text

// Each pattern is linear: bounded or disjoint quantifiers. The order matters: the larger shapes come first.
const VARIABLE_PARTS: readonly ((text: string) => string)[] = [
  swap(TIME, '<time>'),
  swap(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>', '-'),
  swap(/[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, '<email>', '@'),
  swap(
    /(?:\/private)?\/(?:tmp|var\/folders|var\/tmp)\/[^\s'"`:)]{1,400}|[a-z]:\\[^\s'"`:)]{0,200}\\te?mp\\[^\s'"`:)]{1,400}/gi,
    '<temp>',
  ),
  swap(/"[^"\n]{0,1000}"|`[^`\n]{0,1000}`|“[^”\n]{0,1000}”|«[^»\n]{0,1000}»/g, '<value>'),
  // An apostrophe is a quotation mark only where a word cannot go on: "can't find user's order" has none.
  swap(/(?<=^|[\s([{<=:,/|-])'[^'\n]{0,1000}'(?=$|[\s)\]}>,.;:!?/|-])/g, '<value>', "'"),
  (text) =>
    text.includes(':')
      ? text.replace(IP_V6, (found, address: string) => (isIPv6(address) ? '<address>' : found))
      : text,
  swap(/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g, '<address>', '.'),
  swap(NUMBER, '<number>'),
]

function stablePlace({ file, function_name }: Frame): string {
  // A line of unknown shape stands whole in the name, with its line numbers.
  if (file === null) return `#${(function_name ?? '').replace(/\d+/g, '0')}`
  return `${stableFile(file)}#${stableName(function_name)}`
}

/** Bundlers write a hash of the content into the names of files for browsers, and servers a query behind them. */
function stableFile(file: string): string {
  if (!/^https?:\/\//.test(file)) return file
  return file
    .replace(/^https?:\/\/[^/]*/, '')
    .replace(/[?#].*$/, '')
    .replace(/[.-](?=[a-zA-Z_-]{0,40}[\dA-Z])[\w-]{8,40}(?=\.\w{1,5}$)/, '')
}

/** What V8 says about the way of a call differs between builds for the same function. */
function stableName(name: string | null): string {
  if (!name) return ''
  return name.replace(/^(?:async |new |Object\.|Module\.|exports\.)+/, '').replace(/ \[as [^\]]*\]$/, '')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
