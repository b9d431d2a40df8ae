import type { MessageShape } from './message-shape.js'

/**
 * Parts of messages that engines and drivers generate and that distinguish two errors: identifiers in code and schemas,
 * HTTP status codes and error codes. `hideIdentifiers` and `hideCodes` hide them from the patterns for variable parts,
 * `restoreHidden` restores them.
 */

const NAME = '[#$@]?[A-Za-z_$][\\w$]{0,80}(?:\\.[#$]?[A-Za-z_$][\\w$]{0,80}|\\(\\)|\\[\\]|\\?\\.|!){0,8}'
/** Any quotation mark. A phrase begins after a quotation mark, so `NAME_AND_QUOTE` matches a quoted identifier. */
const QUOTE_MARK = '["\'`]'
const QUOTED_NAME = `${QUOTE_MARK}${NAME}${QUOTE_MARK}`
const NAME_AND_QUOTE = `${NAME}${QUOTE_MARK}`
const REST_OF_LIST = `(?:, ?${QUOTED_NAME}){0,20}`
/** A key of an object, including headers (`content-type`) and symbols. */
const OBJECT_KEY = '(?:[#$@]?[A-Za-z_$][\\w$-]{0,80}|Symbol\\([\\w$. -]{0,80}\\))'
/** A package, a built-in module or a relative path. Absolute paths differ between deployments. */
const MODULE_NAME = '(?:node:|@|\\.{1,2}\\/)?[A-Za-z][\\w./@-]{0,100}'
const SQL_CLAUSE = "'(?:field list|[a-z]{2,10} (?:clause|statement))'"

/** Words before a quotation mark, and the text after it. */
const IDENTIFIERS: readonly (readonly [before: string, phrase: string])[] = [
  // V8 and other engines.
  ['(?:reading|setting) ', `${OBJECT_KEY}${QUOTE_MARK}`],
  ['(?:evaluating|private field|identifier|export named|private name) ', NAME_AND_QUOTE],
  ['property:? ', `${NAME_AND_QUOTE}(?: of(?: object)? ${QUOTED_NAME})?`],
  ['access ', `${NAME_AND_QUOTE} before initialization`],
  ['search for ', `${NAME_AND_QUOTE} in\\b`],
  ['unexpected (?:token|identifier) ', `(?:${NAME}|[^\\w\\s']{1,3})${QUOTE_MARK}(?!,)`],
  ['(?:module|package|subpath|resolve) ', `${MODULE_NAME}${QUOTE_MARK}`],
  // Node.js.
  ['the ', `${NAME_AND_QUOTE} (?:argument|property|option)`],
  ['the (?:value|argument|property|option)(?: of)? ', NAME_AND_QUOTE],
  ['env(?:ironment)?(?: var(?:iable)?s?)?:? ', NAME_AND_QUOTE],
  // PostgreSQL, MySQL, Redis and the query builders that prepend the statement.
  [
    '(?:relation|table|column|constraint|index|schema|sequence|view|trigger|enum|type|role) ',
    `${NAME_AND_QUOTE}(?:(?:,| of relation| of table| in) (?:${QUOTED_NAME}|${SQL_CLAUSE})){0,3}`,
  ],
  ['for key ', NAME_AND_QUOTE],
  ['unknown (?:database|argument|field|arg|command) ', NAME_AND_QUOTE],
  ['(?:database|function|procedure|field) ', `${NAME_AND_QUOTE} do(?:es)?n?['o ]`],
  ['(?:insert into|delete from|join) ', `${NAME_AND_QUOTE}(?:\\.${QUOTED_NAME})?`],
  ['update ', `${NAME_AND_QUOTE}(?:\\.${QUOTED_NAME})? set\\b`],
  ['from ', `${NAME_AND_QUOTE}(?:\\.${QUOTED_NAME})? (?:where|order by|group by|limit|as|left|inner)\\b`],
  [
    'constraint fails \\(',
    `${NAME_AND_QUOTE}\\.${QUOTED_NAME}(?:, CONSTRAINT ${QUOTED_NAME} FOREIGN KEY \\(${QUOTED_NAME}${REST_OF_LIST}\\) REFERENCES ${QUOTED_NAME} \\(${QUOTED_NAME}${REST_OF_LIST}\\))?`,
  ],
  // Prisma, Mongoose and GraphQL.
  ['(?:fields?|constraint|column|table|argument)(?:: ?| )\\(', `${NAME_AND_QUOTE}${REST_OF_LIST}\\)`],
  ['(?:fields?|constraint): ', `${NAME_AND_QUOTE}${REST_OF_LIST}`],
  ['constraint violated: ', `\\w{1,80}(?: \\(index\\))?${QUOTE_MARK}`],
  ['invalid ', `prisma\\.${NAME_AND_QUOTE} invocation`],
  ['at path ', `${NAME_AND_QUOTE}(?: for model ${QUOTED_NAME})?`],
  ['argument ', `${NAME_AND_QUOTE}(?: on field ${QUOTED_NAME})?`],
  ['field ', `${NAME_AND_QUOTE} on type ${QUOTED_NAME}`],
  ['variable ', `${NAME_AND_QUOTE} of (?:required )?type ${QUOTED_NAME}`],
]
const KEPT_IDENTIFIERS = afterCharacter(QUOTE_MARK, IDENTIFIERS)

/**
 * Looks for the words before a character only where the character occurs, which is much cheaper than searching for the
 * words. A match begins at the character.
 */
function afterCharacter(character: string, phrases: readonly (readonly [before: string, phrase: string])[]): RegExp {
  const alternatives = phrases.map(([before, phrase]) => `(?<=\\b${before}.)${phrase}`)
  return new RegExp(`${character}(?:${alternatives.join('|')})`, 'gi')
}

/** Names without quotation marks, as engines and databases print them. */
const BARE_NAMES = new RegExp(
  [
    `(?<![\\w$.])${NAME}(?= is not (?:a function|a constructor|defined|iterable))`,
    `\\b(?:no such (?:table|column|index|function): |constraint failed: |no column named )${NAME}(?:, ${NAME}){0,8}`,
    `\\b(?:column|function) ${NAME}(?=(?:\\([^()]{0,200}\\))? does not exist)`,
  ].join('|'),
  'g',
)

const REASON_PHRASES =
  'Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Timeout|Conflict|Gone|Payload Too Large|Content Too Large|Unsupported Media Type|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?out'

/** `404 Not Found`, and messages that begin with the status: those of the OpenAI and Anthropic SDKs, or `502 <html>`. */
const KEPT_STATUS = new RegExp(
  `[1-5](?<!(?:[\\w.,-]).)\\d\\d (?=(?:${REASON_PHRASES})\\b)|[45](?<=^.)\\d\\d (?=[A-Z{"<])`,
  'g',
)

/** Statuses common enough to be recognized without the word "status". */
const COMMON_STATUS = '(?:(?<=4)(?:0\\d|1[0-8]|2[1-9]|31|51)|(?<=5)(?:0[0-4]|2[0-69]))'

/** Words before a digit, and the text after it. */
const CODES: readonly (readonly [before: string, code: string])[] = [
  // `status code 404`, `status: 404`, `HTTP 503`, `HTTP/1.1 404`, `Response code 404`, `server response: 401`.
  [
    '(?:status|statuscode|http(?:\\/\\d(?:\\.\\d)?)?|response)(?: ?(?:status|error|code|text)){0,2}!?[ :=([]{1,3}',
    '(?<=[1-5])\\d\\d(?!\\.?\\d)',
  ],
  // `returned 404`, `responded with 503 from`, `Error 404`. A following noun makes it a count: `got 404 rows`.
  [
    '(?:responded|returned|answered|replied|received|got|error)(?: with)?:? \\(?',
    `${COMMON_STATUS}(?=$|[^\\w.,% ]|[.,](?: |$)| (?:from|for|on|to|when|while|at|in|by)\\b)`,
  ],
  ['[a-z]+ \\(', `${COMMON_STATUS}\\)`],
  ['HTTP\\/', '(?:\\.\\d)?\\b'],
  ['(?:error code|errno|sqlstate|exit code|exited with code|code)[ :=([]{1,3}-?', '\\d{0,2}(?![\\w.])'],
  ['(?:error code|errno|sqlstate)[ :=([]{1,3}-?', '\\d{3,4}(?![\\w.])'],
  ['ERROR ', '\\d{3} \\(\\w{5}\\)'],
  ['React error #', '\\d{0,3}\\b'],
  ['v', '\\d{0,3}(?:\\.\\d{1,6}){0,3}(?![\\w.]{0,20}\\d|[a-z]{6})'],
]
/** No code begins inside a number. */
const FIRST_DIGIT = '\\d(?<!\\d\\d)'
const KEPT_CODES = afterCharacter(FIRST_DIGIT, CODES)

/** Cheap checks that skip an expensive search. */
const MAY_HAVE_BARE_NAME = / is not |no such|constraint failed|no column|not exist/
const MAY_HAVE_STATUS = /\d\d\d [A-Z{"<]/

/**
 * Hidden characters, in the order of the control characters that replace them from 0x80 on. No message contains them
 * on purpose, and a one-byte string stays a one-byte string.
 */
const HIDDEN_CHARACTERS = '0123456789"\'`'
const FIRST_HIDDEN_CODE = 0x80
const HIDDEN_CHARACTER = /[\x80-\x8c]/

function hideQuote(quote: string | undefined): string {
  return String.fromCharCode(FIRST_HIDDEN_CODE + HIDDEN_CHARACTERS.indexOf(quote ?? '"'))
}

export function hideDigits(text: string): string {
  let hidden = ''
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    hidden += code >= 0x30 && code <= 0x39 ? String.fromCharCode(FIRST_HIDDEN_CODE + code - 0x30) : text[i]
  }
  return hidden
}

/** Hides quoted identifiers that must be kept. `isVariable` recognizes ids, which are variable everywhere. */
export function hideIdentifiers(text: string, isVariable: (name: string) => boolean): string {
  return text.replace(KEPT_IDENTIFIERS, (phrase) => {
    let kept = ''
    let copied = 0
    for (let start = nextQuoteMark(phrase, 0); start >= 0; ) {
      const end = nextQuoteMark(phrase, start + 1)
      if (end < 0) break
      const name = phrase.slice(start + 1, end)
      if (!isVariable(name)) {
        kept += phrase.slice(copied, start) + hideQuote(phrase[start]) + hideShortNumbers(name) + hideQuote(phrase[end])
        copied = end + 1
      }
      start = nextQuoteMark(phrase, end + 1)
    }
    return kept + phrase.slice(copied)
  })
}

function nextQuoteMark(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22 || code === 0x27 || code === 0x60) return i
  }
  return -1
}

/** Hides the digits of names without quotation marks, of HTTP status codes and of error codes. */
export function hideCodes(text: string, shape: MessageShape, isVariable: (name: string) => boolean): string {
  let result = text
  if (shape.mayHaveId && MAY_HAVE_BARE_NAME.test(result)) {
    result = result.replace(BARE_NAMES, (name) => (isVariable(name) ? name : hideShortNumbers(name)))
  }
  if (MAY_HAVE_STATUS.test(result)) result = result.replace(KEPT_STATUS, hideDigits)
  return result.replace(KEPT_CODES, hideDigits)
}

/** `address2` is a column; the digits of `events_2026_03` are a partition. */
function hideShortNumbers(name: string): string {
  return /\d{3}/.test(name) ? name : hideDigits(name)
}

export function restoreHidden(text: string): string {
  if (!HIDDEN_CHARACTER.test(text)) return text
  let shown = ''
  let copied = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i) - FIRST_HIDDEN_CODE
    if (code < 0 || code >= HIDDEN_CHARACTERS.length) continue
    shown += text.slice(copied, i) + HIDDEN_CHARACTERS[code]
    copied = i + 1
  }
  return shown + text.slice(copied)
}
