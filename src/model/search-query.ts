import { TrackerError } from './errors.js'
import { SEVERITIES } from './severity/severity.js'
import { nearestWord } from './text.js'
import { PRIORITIES } from './workflow.js'

/** Parser of `query`, the grammar of the search box. See docs/search.md. */

/** Keys with a value, such as `user:42`. */
export const QUERY_KEYS = [
  ...['is', 'user', 'release', 'platform', 'environment', 'url', 'type', 'tag'],
  ...['severity', 'priority', 'assigned', 'app'],
] as const
export type QueryKey = (typeof QUERY_KEYS)[number]

/** Other names of keys, from the parameters of the list and from other error trackers. */
const KEY_ALIASES: Readonly<Record<string, QueryKey>> = {
  version: 'release',
  level: 'severity',
  assignee: 'assigned',
  application: 'app',
}

export const IS_VALUES = [
  'unresolved',
  'resolved',
  'new',
  'investigating',
  'in_progress',
  'wont_fix',
  'snoozed',
  'muted',
  'assigned',
  'unassigned',
  'regressed',
] as const
export type IsValue = (typeof IS_VALUES)[number]

/** Values of the keys that accept nothing else. */
export const QUERY_VALUES: Readonly<Partial<Record<QueryKey, readonly string[]>>> = {
  is: IS_VALUES,
  severity: SEVERITIES,
  priority: PRIORITIES,
}

/** Longer than any query that a person types, short enough for a link. */
export const MAX_QUERY_LENGTH = 1000
/** Each term adds a condition to the SQL. */
const MAX_QUERY_TERMS = 20

/** All terms of a query must match. */
export interface QueryTerm {
  /** `text` for a word or a quoted phrase. */
  key: 'text' | QueryKey
  /** Value, split at its wildcards: `Pay*Error` is `['Pay', 'Error']`. Not empty. */
  parts: string[]
  isNegated: boolean
}

/** Malformed query. The message contains the position and the next step. */
export class QueryError extends TrackerError {
  /** Number of the first character that cannot be read, starting with 1. */
  readonly position: number

  constructor(problem: string, text: string, index: number, nextStep: string) {
    // Counts characters as a reader does, not UTF-16 units.
    const position = [...text.slice(0, index)].length + 1
    super('invalid_input', `query ${problem} at character ${position}. ${nextStep}`)
    this.name = 'QueryError'
    this.position = position
  }
}

/**
 * Reads a query in one pass, or throws a `QueryError`.
 * @example parseQuery('is:unresolved -timeout "not found"')
 * // [{ key: 'is', parts: ['unresolved'], isNegated: false },
 * //  { key: 'text', parts: ['timeout'], isNegated: true },
 * //  { key: 'text', parts: ['not found'], isNegated: false }]
 */
export function parseQuery(text: string): QueryTerm[] {
  return readTerms(text).map(({ term }) => term)
}

/**
 * Returns the query once for each term, without this term. Empty for a single term.
 * @example queriesWithoutOneTerm('a  b:"c d"') // [{ removed: 'a', rest: 'b:"c d"' }, { removed: 'b:"c d"', rest: 'a' }]
 */
export function queriesWithoutOneTerm(text: string): { removed: string; rest: string }[] {
  const written = readTerms(text).map(({ start, end }) => text.slice(start, end))
  if (written.length < 2) return []
  return written.map((removed, i) => ({ removed, rest: written.toSpliced(i, 1).join(' ') }))
}

interface WrittenTerm {
  term: QueryTerm
  start: number
  end: number
}

function readTerms(text: string): WrittenTerm[] {
  if (text.length > MAX_QUERY_LENGTH) {
    throw new QueryError('is too long', text, MAX_QUERY_LENGTH, `Use at most ${MAX_QUERY_LENGTH} characters.`)
  }
  const terms: WrittenTerm[] = []
  for (let start = skipSpace(text, 0); start < text.length; ) {
    if (terms.length === MAX_QUERY_TERMS) {
      throw new QueryError('has too many terms', text, start, `Use at most ${MAX_QUERY_TERMS} words and operators.`)
    }
    const { term, end } = readTerm(text, start)
    terms.push({ term, start, end })
    start = skipSpace(text, end)
  }
  return terms
}

/**
 * Replaces `assigned:me` with the name of the viewer, except in quotes. Throws a `QueryError` if only the name makes the
 * query too long.
 * @example withViewerName('is:new assigned:me', 'ada lovelace') // 'is:new assigned:"ada lovelace"'
 */
export function withViewerName(query: string, viewer: string): string {
  if (query.length > MAX_QUERY_LENGTH) return query
  let firstAssignedToMe = -1
  const named = query.replace(QUOTED_OR_ASSIGNED_TO_ME, (found, index: number) => {
    if (found.startsWith('"')) return found
    if (firstAssignedToMe < 0) firstAssignedToMe = index
    return `${found.slice(0, -'me'.length)}"${viewer.replaceAll(/["\\]/g, '\\$&')}"`
  })
  if (named.length <= MAX_QUERY_LENGTH) return named
  const excess = named.length - MAX_QUERY_LENGTH
  throw new QueryError(
    'is too long with your name instead of assigned:me',
    query,
    firstAssignedToMe,
    `Shorten the query by ${excess} ${excess === 1 ? 'character' : 'characters'}.`,
  )
}

const QUOTED_OR_ASSIGNED_TO_ME = /"(?:\\[\s\S]|[^"\\])*"|(?<=^|\s|-)assign(?:ed|ee):me(?=\s|$)/g

interface ReadTerm {
  term: QueryTerm
  /** Index after the term. */
  end: number
}

function readTerm(text: string, start: number): ReadTerm {
  const isNegated = text[start] === '-'
  const from = isNegated ? start + 1 : start
  if (isNegated && isEnd(text, from)) {
    throw new QueryError('has a lone -', text, start, 'Add the word to exclude, or quote it as "-".')
  }
  if (text[from] === '"') {
    const { content, end } = readQuoted(text, from)
    if (content.trim() === '')
      throw new QueryError('has empty quotes', text, from, 'Add a phrase or remove the quotes.')
    return { term: { key: 'text', parts: [content], isNegated }, end }
  }
  const name = keyName(text, from)
  const key = name === null ? undefined : (QUERY_KEYS.find((known) => known === name) ?? KEY_ALIASES[name])
  if (name !== null && key) return readKey({ text, start: from, name, key, isNegated })
  const end = wordEnd(text, from)
  return { term: { key: 'text', parts: [withoutTrailingWildcards(text.slice(from, end))], isNegated }, end }
}

/** A word matches anywhere in a text, so a wildcard at its end adds nothing. */
function withoutTrailingWildcards(word: string): string {
  let end = word.length
  while (end > 0 && word[end - 1] === '*') end--
  return end === 0 ? word : word.slice(0, end)
}

/** Word in lower case before a colon, which can be a key. */
function keyName(text: string, start: number): string | null {
  KEY_NAME.lastIndex = start
  return KEY_NAME.exec(text)?.[1] ?? null
}

const KEY_NAME = /([a-z][a-z_]{0,30}):/y

/** Word of a query that looks like an operator, but is searched as text. */
export interface UnknownOperator {
  /** Name as written, without the colon. */
  name: string
  /** Known operator with a similar name. Null if there is none. */
  nearest: string | null
  /** Term with the nearest operator, or with the tag of this name. */
  replacement: string
  /** Query with the replacement. Null if the value is not allowed. */
  corrected: string | null
}

/**
 * Returns the first word that looks like an operator, for a query that finds nothing.
 * @example unknownOperator('usr:42')
 * // { name: 'usr', nearest: 'user', replacement: 'user:42', corrected: 'user:42' }
 */
export function unknownOperator(query: string): UnknownOperator | null {
  for (const { term, start, end } of readTerms(query)) {
    const from = term.isNegated ? start + 1 : start
    const [, name, value] = (term.key === 'text' && OPERATOR_LIKE.exec(query.slice(from, end))) || []
    if (!name || !value) continue
    const nearest = nearestOperator(name.toLowerCase())
    const replacement = nearest ? `${nearest}:${value}` : `tag:${name}=${value}`
    const corrected = query.slice(0, from) + replacement + query.slice(end)
    return { name, nearest, replacement, corrected: isValidQuery(corrected) ? corrected : null }
  }
  return null
}

/** Word and value as in other error trackers. Not a URL. */
const OPERATOR_LIKE = /^([a-z][\w.-]{0,30}):(?!\/\/)(.+)$/is

/** Completes an abbreviation, such as `env`, or corrects a spelling mistake. */
function nearestOperator(name: string): string | null {
  const known = [...QUERY_KEYS, ...Object.keys(KEY_ALIASES)]
  const completed = name.length > 1 ? known.find((key) => key.startsWith(name)) : undefined
  return completed ?? nearestWord(name, known) ?? null
}

function isValidQuery(text: string): boolean {
  try {
    return readTerms(text).length > 0
  } catch (error) {
    if (error instanceof QueryError) return false
    throw error
  }
}

interface KeyTerm {
  text: string
  start: number
  /** Name as written, which can be an alias of the key. */
  name: string
  key: QueryKey
  isNegated: boolean
}

function readKey({ text, start, name, key, isNegated }: KeyTerm): ReadTerm {
  const valueStart = start + name.length + 1
  const { parts, end } = readValue(text, valueStart)
  const value = parts.join('*')
  if (value.trim() === '') {
    throw new QueryError(`has no value after ${name}:`, text, start, `Add a value, or quote the text as "${name}:".`)
  }
  const allowed = QUERY_VALUES[key]
  if (allowed) {
    const choice = allowed.find((known) => known === value.toLowerCase())
    if (choice) return { term: { key, parts: [choice], isNegated }, end }
    throw new QueryError(`has an unknown value after ${name}:`, text, valueStart, `Use ${allowed.join(', ')}.`)
  }
  if (key === 'tag' && value.startsWith('=')) {
    throw new QueryError('has no tag name after tag:', text, valueStart, 'Use tag:name=value.')
  }
  if ((key === 'release' || key === 'tag') && (parts.length > 2 || (parts.length === 2 && parts[1] !== ''))) {
    const at = start + text.slice(start).indexOf('*')
    throw new QueryError(`has a * inside the value of ${name}:`, text, at, 'Put the * at the end, or quote it as "*".')
  }
  return { term: { key, parts, isNegated }, end }
}

/** Reads up to the next space. Quoted sections can contain spaces, and their `*` is not a wildcard. */
function readValue(text: string, start: number): { parts: string[]; end: number } {
  const parts: string[] = []
  let part = ''
  let at = start
  while (!isEnd(text, at)) {
    if (text[at] === '"') {
      const { content, end } = readQuoted(text, at)
      part += content
      at = end
    } else if (text[at] === '*') {
      parts.push(part)
      part = ''
      at++
    } else part += text[at++]
  }
  return { parts: [...parts, part], end: at }
}

/** Reads a quoted section, in which `\"` is a quote. */
function readQuoted(text: string, start: number): { content: string; end: number } {
  let content = ''
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return { content, end: at + 1 }
    if (text[at] === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at++
    content += text[at]
  }
  throw new QueryError(
    'has an unclosed quote',
    text,
    start,
    'Add a closing quote, or write \\" for a quote and \\\\ for a backslash in a phrase.',
  )
}

function wordEnd(text: string, start: number): number {
  let end = start
  while (!isEnd(text, end)) end++
  return end
}

function isEnd(text: string, at: number): boolean {
  return at >= text.length || isSpace(text, at)
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && isSpace(text, at)) at++
  return at
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text[at] ?? '')
}
