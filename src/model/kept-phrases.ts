/**
 * Parts of messages that engines and drivers generate and that distinguish two errors: identifiers of code and schemas,
 * HTTP status codes and error codes. `keepPhrases` hides them from the patterns for variable parts, `showKept` restores
 * them.
 */

const NAME = '[#$@]?[A-Za-z_$][\\w$]{0,80}(?:\\.[#$]?[A-Za-z_$][\\w$]{0,80}|\\(\\)|\\[\\]|\\?\\.|!){0,8}'
/** An identifier in any kind of quotation marks. */
const Q = `(?:"${NAME}"|'${NAME}'|\`${NAME}\`)`
const LIST = `${Q}(?:, ?${Q}){0,20}`
/** A package, a built-in module or a relative path. Absolute paths differ between deployments. */
const MODULE = '[\'"](?:node:|@|\\.{1,2}\\/)?[A-Za-z][\\w./@-]{0,100}[\'"]'

const IDENTIFIER_PHRASES = [
  // V8 and other engines.
  `\\b(?:reading|setting|evaluating|private field|identifier|export named|private name) ${Q}`,
  `\\bproperty:? ${Q}(?: of(?: object)? ${Q})?`,
  `\\baccess ${Q} before initialization`,
  `\\bsearch for ${Q} in\\b`,
  `\\bunexpected (?:token|identifier) ${Q}(?!,)`,
  `\\b(?:module|package) ${MODULE}`,
  // Node.js.
  `\\bthe ${Q} (?:argument|property|option)`,
  `\\bthe (?:value|argument|property|option)(?: of)? ${Q}`,
  // PostgreSQL, MySQL and the query builders that prepend the statement.
  `\\b(?:relation|table|column|constraint|index|schema|sequence|view|trigger|enum|type) ${Q}(?:(?:,| of relation| of table| in) ${Q}){0,3}`,
  `\\bfor key ${Q}`,
  `\\bunknown (?:database|table|column|argument|field|arg) ${Q}`,
  `\\b(?:database|function|procedure|field) ${Q} do(?:es)?n?['o ]`,
  `\\b(?:insert into|delete from|join) ${Q}(?:\\.${Q})?`,
  `\\bupdate ${Q}(?:\\.${Q})? set\\b`,
  `\\bfrom ${Q}(?:\\.${Q})? (?:where|order by|group by|limit|as|left|inner)\\b`,
  `\\bconstraint fails \\(${Q}\\.${Q}(?:, CONSTRAINT ${Q} FOREIGN KEY \\(${LIST}\\) REFERENCES ${Q} \\(${LIST}\\))?`,
  // Prisma and GraphQL.
  `\\b(?:fields?|constraint|column|table|argument)(?:: ?| )\\(${LIST}\\)|\\b(?:fields?|constraint): ${LIST}`,
  `\\binvalid \`prisma\\.${NAME}\` invocation`,
  `\\bargument ${Q}(?: on field ${Q})?`,
  `\\bfield ${Q} on type ${Q}`,
  `\\bvariable ${Q} of (?:required )?type ${Q}`,
]
const KEPT_IDENTIFIERS = new RegExp(IDENTIFIER_PHRASES.join('|'), 'gi')
const QUOTED_PART = /(["'`])([^"'`]{1,200})\1/g

/** Names without quotation marks, as engines and SQLite print them. */
const BARE_NAMES = new RegExp(
  [
    `(?<![\\w$.])${NAME}(?= is not (?:a function|a constructor|defined|iterable))`,
    `\\b(?:no such (?:table|column|index|function): |constraint failed: |no column named )${NAME}(?:, ${NAME}){0,8}`,
  ].join('|'),
  'g',
)

const REASON_PHRASES =
  'Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Timeout|Conflict|Gone|Payload Too Large|Content Too Large|Unsupported Media Type|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?out'

/** `404 Not Found`, and messages that begin with the status, as those of the OpenAI and Anthropic SDKs do. */
const KEPT_STATUS = new RegExp(`(?<![\\w.,-])[1-5]\\d\\d (?:${REASON_PHRASES})\\b|^[45]\\d\\d (?=[A-Z{"])`, 'g')

const KEPT_CODES = new RegExp(
  [
    // `status code 404`, `status: 404`, `HTTP 503`, `HTTP/1.1 404`, `Response code 404`, `server response: 401`.
    `\\b(?:status|statuscode|http(?:\\/\\d(?:\\.\\d)?)?|response)(?: ?(?:status|error|code|text)){0,2}!?[ :=([]{1,3}[1-5]\\d\\d(?!\\.?\\d)`,
    '\\bHTTP\\/\\d(?:\\.\\d)?\\b',
    '\\b(?:error code|errno|sqlstate|exit code|exited with code|code)[ :=([]{1,3}-?\\d{1,3}(?![\\w.])',
    '\\b(?:error code|errno|sqlstate)[ :=([]{1,3}-?\\d{4,5}(?![\\w.])',
    '\\bERROR \\d{4} \\(\\w{5}\\)',
    '\\bv\\d{1,4}(?:\\.\\d{1,6}){0,3}(?![\\w.]*\\d)',
  ].join('|'),
  'gi',
)

// Each of these is far cheaper than the search it saves.
const MAY_HAVE_BARE_NAME = / is not |no such|constraint failed|no column/
const MAY_HAVE_STATUS = /\d\d\d [A-Z{"]/
const MAY_HAVE_CODE = /status|http|response|code|errno|sqlstate|\berror \d|\bv\d/i

/** Where hidden characters go: private use, which no message contains for a reason. */
const HIDDEN_DIGITS = 0xe000
const HIDDEN_QUOTES: Readonly<Record<string, string>> = { '"': '\ue010', "'": '\ue011', '`': '\ue012' }
const HIDDEN = /[\ue000-\ue012]/
const HIDDEN_ALL = /[\ue000-\ue012]/g

export function hideDigits(text: string): string {
  return text.replace(/\d/g, (digit) => String.fromCharCode(HIDDEN_DIGITS + Number(digit)))
}

/** Hides what must stay. `isVariable` recognizes ids, which stay variable wherever they are. */
export function keepPhrases(text: string, isVariable: (name: string) => boolean): string {
  let result = text
  if (/["'`]/.test(result)) {
    result = result.replace(KEPT_IDENTIFIERS, (phrase) =>
      phrase.replace(QUOTED_PART, (part, quote: string, name: string) =>
        isVariable(name) ? part : `${HIDDEN_QUOTES[quote]}${hideShortNumbers(name)}${HIDDEN_QUOTES[quote]}`,
      ),
    )
  }
  if (!/\d/.test(result)) return result
  if (MAY_HAVE_BARE_NAME.test(result)) {
    result = result.replace(BARE_NAMES, (name) => (isVariable(name) ? name : hideShortNumbers(name)))
  }
  if (MAY_HAVE_STATUS.test(result)) result = result.replace(KEPT_STATUS, hideDigits)
  return MAY_HAVE_CODE.test(result) ? result.replace(KEPT_CODES, hideDigits) : result
}

/** `address2` is a column; the digits of `events_2026_03` are a partition. */
function hideShortNumbers(name: string): string {
  return /\d{3}/.test(name) ? name : hideDigits(name)
}

export function showKept(text: string): string {
  if (!HIDDEN.test(text)) return text
  return text.replace(HIDDEN_ALL, (hidden) => {
    const code = hidden.charCodeAt(0) - HIDDEN_DIGITS
    return code < 10 ? String(code) : code === 16 ? '"' : code === 17 ? "'" : '`'
  })
}
