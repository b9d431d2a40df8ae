import { types } from 'node:util'
import { keyWords } from './key-words.js'
import type { IsSensitiveKey } from './sensitive-keys.js'

/** Keys of a name and of its value where both are members of one object, as in forms, headers and validation errors. */
const NAME_KEYS = [
  'name', 'key', 'field', 'header', 'k', 'param', 'parameter', 'property', 'prop', 'path', 'label', 'attribute', 'column', 'variable', 'id', 'loc',
  'Name', 'Key', 'ParameterKey',
] as const // biome-ignore format: a word list reads best as lines of words
const VALUE_KEYS: ReadonlySet<string> = new Set([
  'value', 'val', 'v', 'values', 'input', 'received', 'actual', 'content', 'text', 'data', 'newValue', 'oldValue', 'new_value', 'old_value', 'default',
  'args', 'Value', 'ParameterValue',
]) // biome-ignore format: a word list reads best as lines of words

/** Members of a statement and of its parameters, as drivers and ORMs attach them to an error. */
const STATEMENT_KEYS = ['sql', 'query', 'text', 'statement'] as const
const PARAMETER_KEYS: ReadonlySet<string> = new Set(['bindings', 'parameters', 'params', 'values', 'args'])
const STATEMENT = /^\s{0,20}(?:with|select|insert|update|delete|merge|replace|alter|create|call)\b/i
const MAX_STATEMENT_LENGTH = 2000
/** The private members of a JSON Web Key. */
const PRIVATE_JWK_KEYS: ReadonlySet<string> = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth'])
const NO_KEYS: ReadonlySet<string> = new Set()

/** Keys that are required for one member of an object to name another. */
export const NAMED_MEMBER_KEYS: ReadonlySet<string> = new Set([...VALUE_KEYS, ...PARAMETER_KEYS, 'kty'])

/**
 * Keys of members that are secret because of another member: `{ name: 'password', value: S }`, `{ path: ['user',
 * 'pin'], input: S }`, `{ sql: '… set password = ?', bindings: [S] }`, `{ kty: 'RSA', d: S }`.
 */
export function secretMembers(
  readMember: (key: string) => unknown,
  isSensitiveKey: IsSensitiveKey,
): ReadonlySet<string> {
  if (hasSecretName(readMember, isSensitiveKey)) return VALUE_KEYS
  if (typeof readMember('kty') === 'string') return PRIVATE_JWK_KEYS
  const isSensitiveStatement = STATEMENT_KEYS.some((key) => {
    const statement = readMember(key)
    if (typeof statement !== 'string' || !STATEMENT.test(statement)) return false
    return statement.slice(0, MAX_STATEMENT_LENGTH).split(NOT_IDENTIFIER).some(isSensitiveKey)
  })
  return isSensitiveStatement ? PARAMETER_KEYS : NO_KEYS
}

const NOT_IDENTIFIER = /[^\p{ID_Continue}$]+/u

function hasSecretName(readMember: (key: string) => unknown, isSensitiveKey: IsSensitiveKey): boolean {
  if (readMember('type') === 'password') return true
  return NAME_KEYS.some((key) => {
    const name = readMember(key)
    const last = isPlainArray(name) ? Object.getOwnPropertyDescriptor(name, name.length - 1)?.value : name
    return typeof last === 'string' && NAME.test(last) && isSensitiveKey(last)
  })
}

/** Excludes URL paths, which can contain any word. */
const NAME = /^[\p{ID_Continue}.$[\] -]{1,80}$/u

function isPlainArray(value: unknown): value is unknown[] {
  return Array.isArray(value) && !types.isProxy(value)
}

/**
 * Returns true if an item of a list is the value of the item before it, as in raw headers, entries and arguments. A
 * list of field names such as `['password', 'email']` has no values.
 */
export function isValueOfPreviousItem(before: unknown, item: unknown, isSensitiveKey: IsSensitiveKey): boolean {
  if (typeof before !== 'string' || before.length > MAX_NAME_LENGTH || !isSensitiveKey(before)) return false
  if (/\s/.test(before.trim())) return false
  return typeof item !== 'string' || !isFieldName(item)
}

const MAX_NAME_LENGTH = 100
const IDENTIFIER = /^[A-Za-z][\w-]{0,40}$/
const FIELD_WORDS = new Set([
  'name', 'names', 'email', 'emails', 'mail', 'user', 'users', 'username', 'login', 'id', 'ids', 'uuid', 'at', 'by', 'on', 'date', 'time', 'type', 'url',
  'count', 'address', 'phone', 'city', 'country', 'zip', 'role', 'roles', 'status', 'title', 'description', 'age', 'gender', 'birthday',
  'created', 'updated', 'deleted', 'remember', 'confirmation', 'host', 'port', 'database', 'table', 'columns', 'fields', 'language', 'locale',
]) // biome-ignore format: a word list reads best as lines of words

/** Names that are never secrets themselves. */
const SECRET_FIELD_NAMES = new Set(
  'passwordconfirmation confirmpassword token accesstoken refreshtoken apikey authorization cookie setcookie csrf otp pin cvv'.split(
    ' ',
  ),
)

function isFieldName(text: string): boolean {
  if (!IDENTIFIER.test(text)) return false
  return (
    FIELD_WORDS.has(keyWords(text).at(-1) ?? '') || SECRET_FIELD_NAMES.has(text.toLowerCase().replaceAll(/[_-]/g, ''))
  )
}

const QUOTE = `\\\\{0,15}["']`
const NAME_KEY_PATTERN = `(?:${NAME_KEYS.join('|')})`
const VALUE_KEY_PATTERN = `(?:${[...VALUE_KEYS].join('|')})`
/** Members between two braces, and elements with attributes. A truncated part extends to the end of the text. */
const FLAT_PART = /[{}][^{}]{8,}|<[\w:-]{1,60}\s([^<>]{8,})(?:>|$)/g
const NAME_MEMBER = new RegExp(
  `(?<![\\w$-])${NAME_KEY_PATTERN}(?:${QUOTE})?\\s{0,5}[:=]\\s{0,5}(?:\\[(?:[^\\[\\]]{0,200}[,\\s])?)?(?:${QUOTE}|(?=\\w))([\\p{ID_Continue}.$ -]{2,80}?)(?=\\\\{0,15}["',}\\]>]|\\s|$)`,
  'gu',
)
const PASSWORD_TYPE = new RegExp(`(?<![\\w$-])type(?:${QUOTE})?\\s{0,5}[:=]\\s{0,5}(?:${QUOTE})?password`, 'i')
const VALUE_MEMBER = new RegExp(`(?<![\\w$-])${VALUE_KEY_PATTERN}(?:${QUOTE})?\\s{0,5}[:=]\\s{0,5}`, 'g')
const VALUE_HINT = new RegExp(`${VALUE_KEY_PATTERN}(?:${QUOTE})?\\s{0,5}[:=]`)
/** `- name: DB_PASSWORD\n  value: S` in YAML. */
const YAML_PAIR = /\bname:[ \t]{1,5}["']?([\p{ID_Continue}.-]{1,80})["']?\s{1,40}value:[ \t]{1,5}/gu
/** Two strings in a list: `'Authorization', 'S'`. */
const LIST_PAIR = new RegExp(`${QUOTE}([\\p{ID_Continue}.-]{2,80})${QUOTE}\\s{0,5},\\s{0,40}(?=${QUOTE})`, 'gu')
const LIST_ITEM = /^\\{0,15}["']([^"'\\]{0,60})(?:\\{0,15}["']\s{0,5}([:=]))?/
const LIST_HINT = /["']\s{0,5},\s{0,40}\\{0,15}["']/
/** `Failed query: insert into users (password) values ($1)\nparams: S`, `-- PARAMETERS: ["S"]`, `"bindings":["S"]`. */
const PARAMETERS = /(?<![\w$-])(?:params|parameters|bindings|values|args)(?:\\{0,15}["'])?\s{0,3}[:=]\s{0,3}(?=\S)/gi
const PARAMETERS_HINT = /(?:params|parameters|bindings|values|args)(?:\\{0,15}["'])?\s{0,3}[:=]/i
const STATEMENT_WORD = /\b(?:select|insert|update|delete|merge|replace|call)\b/i
const STATEMENT_PLACEHOLDER = /\$\d|\?|[:@]\w|%s/
/** Part of a multipart form: header lines, an empty line, the value and the boundary. */
const NEW_LINE = '(?:\\r?\\n|(?:\\\\{1,7}r)?\\\\{1,7}n)'
const FORM_PART = new RegExp(
  `(\\bname=${QUOTE}([^"'\\n\\\\]{1,100})${QUOTE}[^\\r\\n\\\\]{0,200}${NEW_LINE}(?:[^\\r\\n\\\\]{1,200}${NEW_LINE}){0,4}?${NEW_LINE})[\\s\\S]*?(?=${NEW_LINE}--|$)`,
  'gi',
)

/** The end of the value that begins at a position of a text. */
export type EndOfValue = (text: string, start: number) => number

/** Replaces values whose name is in another member, item, attribute or header line with `filtered`. */
export function withoutPairedValues(
  text: string,
  filtered: string,
  isSensitiveKey: IsSensitiveKey,
  endOfValue: EndOfValue,
): string {
  let result = text
  if (VALUE_HINT.test(text)) {
    result = replaceValues(result, filtered, endOfValue, pairedMembers(result, isSensitiveKey))
    if (result.includes('name:')) result = replaceValues(result, filtered, endOfLine, yamlPairs(result, isSensitiveKey))
  }
  if (PARAMETERS_HINT.test(text))
    result = replaceValues(result, filtered, endOfParameters(endOfValue), statementParameters(result, isSensitiveKey))
  if (LIST_HINT.test(text)) result = replaceValues(result, filtered, endOfValue, listPairs(result, isSensitiveKey))
  if (text.includes('name='))
    result = result.replace(FORM_PART, (part, start: string, name: string) =>
      isSensitiveKey(name) ? start + filtered : part,
    )
  return result
}

/** Start positions of values, in ascending order. */
function* pairedMembers(text: string, isSensitiveKey: IsSensitiveKey): Generator<number> {
  for (const { 0: part, index } of text.matchAll(FLAT_PART)) {
    if (!VALUE_HINT.test(part)) continue
    const isSecret =
      PASSWORD_TYPE.test(part) || [...part.matchAll(NAME_MEMBER)].some(([, name]) => isSensitiveKey(name ?? ''))
    if (!isSecret) continue
    for (const value of part.matchAll(VALUE_MEMBER)) yield index + value.index + value[0].length
  }
}

/** Parameters of a statement with placeholders that mentions a sensitive column. */
function* statementParameters(text: string, isSensitiveKey: IsSensitiveKey): Generator<number> {
  const statement = STATEMENT_WORD.exec(text)
  if (!statement || !STATEMENT_PLACEHOLDER.test(text)) return
  const words = text.slice(statement.index, statement.index + MAX_STATEMENT_LENGTH).split(NOT_IDENTIFIER)
  if (!words.some(isSensitiveKey)) return
  for (const { 0: start, index } of text.matchAll(PARAMETERS)) yield index + start.length
}

/** A list, or all values to the end of the line. */
const endOfParameters =
  (endOfValue: EndOfValue): EndOfValue =>
  (text, start) =>
    text[start] === '[' || text[start] === '{' ? endOfValue(text, start) : endOfLine(text, start)

function* yamlPairs(text: string, isSensitiveKey: IsSensitiveKey): Generator<number> {
  for (const { 0: pair, 1: name, index } of text.matchAll(YAML_PAIR))
    if (isSensitiveKey(name ?? '')) yield index + pair.length
}

function* listPairs(text: string, isSensitiveKey: IsSensitiveKey): Generator<number> {
  for (const { 0: pair, 1: name = '', index } of text.matchAll(LIST_PAIR)) {
    if (!isSensitiveKey(name)) continue
    const start = index + pair.length
    const [, item = '', next] = LIST_ITEM.exec(text.slice(start, start + 100)) ?? []
    // A key rather than an item: `"name":"password","value":`.
    if (next !== ':' && next !== '=' && isValueOfPreviousItem(name, item, isSensitiveKey)) yield start
  }
}

function replaceValues(text: string, filtered: string, endOfValue: EndOfValue, starts: Iterable<number>): string {
  let result = ''
  let copied = 0
  for (const start of starts) {
    if (start < copied) continue
    const end = endOfValue(text, start)
    if (end <= start) continue
    result += text.slice(copied, start) + filtered
    copied = end
  }
  return result + text.slice(copied)
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}
