import type { Context } from '../../context.js'
import { pathPattern } from '../../model/requests/path-pattern.js'
import { parseQuery, type QueryTerm } from '../../model/search-query.js'
import type { Database } from '../../store/database.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import type { SearchHistoryTable } from '../../store/schema.js'
import { errorIdRanges, type Range } from '../../store/sql/timed-ranges.js'
import type { ErrorsFilter } from './errors-filter.js'
import { paddedIdList } from './padded-id-list.js'

/** With more matches, errors are tested one by one in list order. */
const MAX_COLLECTED_IDS = 2000
/** With more candidates, scanning all texts is faster than loading individual rows. */
const MAX_CANDIDATES = 1000

/** Condition that some text of an error matches or, if negated, that no text matches. */
export interface TextTerm {
  /** Pattern of `like` for the stored texts, which are in lower case. `!` escapes. */
  pattern: string
  /** Text that every match contains, for the index. */
  literal: string
  /** Kinds of later texts to compare. Null for all kinds. */
  kinds: readonly SearchHistoryTable['kind'][] | null
  /** True if the first message and backtrace are compared. */
  hasFirstText: boolean
  /** Id of an affected user that also matches. */
  user_id: string | null
  isNegated: boolean
}

/** Texts to find for a filter: the text of `search`, and the words, URLs and tags of `query`. */
export function textTerms({ search, query }: Pick<ErrorsFilter, 'search' | 'query'>): TextTerm[] {
  return [
    ...(search === undefined ? [] : [literalSearch(search)]),
    ...(query === undefined ? [] : parseQuery(query)).flatMap((term) => queryText(term) ?? []),
  ]
}

/** Words and phrases that matching errors contain, in lower case. */
export function searchedTexts(filter: Pick<ErrorsFilter, 'search' | 'query'>): string[] {
  const found = textTerms(filter).filter(({ hasFirstText, isNegated }) => hasFirstText && !isNegated)
  return [...new Set(found.map(({ literal }) => literal))]
}

/** Literal, case-insensitive search in messages and backtraces. */
function literalSearch(search: string): TextTerm {
  const literal = search.toLowerCase()
  return {
    pattern: `%${escapePattern(literal)}%`,
    literal,
    kinds: ['message', 'backtrace'],
    hasFirstText: true,
    user_id: null,
    isNegated: false,
  }
}

/** Returns null for a key whose values are not text. */
function queryText({ key, parts, isNegated }: QueryTerm): TextTerm | null {
  switch (key) {
    case 'text': {
      const text = parts.join('*')
      return { ...literalSearch(text), kinds: null, user_id: text, isNegated }
    }
    case 'url': {
      // Stored URLs contain a placeholder for each id.
      const texts = parts.map((part) => (part === '' ? '' : pathPattern(part).toLowerCase()))
      return { ...onlyKind('url', texts), pattern: `%${texts.map(escapePattern).join('%')}%`, isNegated }
    }
    default:
      return null
  }
}

function onlyKind(kind: SearchHistoryTable['kind'], texts: readonly string[]) {
  const literal = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '')
  return { literal, kinds: [kind], hasFirstText: false, user_id: null }
}

/** Escapes `%` and `_`. */
function escapePattern(text: string): string {
  return text.replace(/[!%_]/g, '!$&')
}

/** Ids of errors that match all terms. Null if there are too many to collect. */
export async function findErrorsWithTexts({ database }: Context, terms: readonly TextTerm[]): Promise<number[] | null> {
  const candidates = await findCandidates(database, terms)
  if (candidates) return findMatchingIds(database, terms, candidates)
  // Reads in ranges, because a single statement would block the host even if each term is common.
  if (database.dialect.blocksHost) return collectIds(database, terms)
  for (const term of mostSelectiveFirst(terms)) {
    const ids = await collectIds(database, [term])
    if (ids) return terms.length === 1 ? ids : findMatchingIds(database, terms, ids)
  }
  return null
}

/** Returns terms that are not negated, longest first. A long text is usually rarer than a short text. */
function mostSelectiveFirst(terms: readonly TextTerm[]): TextTerm[] {
  return terms.filter(({ isNegated }) => !isNegated).sort((a, b) => b.literal.length - a.literal.length)
}

async function collectIds(database: Database, terms: readonly TextTerm[]): Promise<number[] | null> {
  const found = new Set<number>()
  for await (const range of errorIdRanges(database)) {
    for (const query of queriesInRange(terms, range)) {
      const { rows } = await query.execute(database.read)
      for (const { error_id } of rows) found.add(error_id)
      if (found.size > MAX_COLLECTED_IDS) return null
    }
  }
  return [...found]
}

/** Condition for a row of `faultboard_errors`, which tests the texts of this error only. */
export function matchesTexts(terms: readonly TextTerm[]): RawBuilder<boolean> {
  const belongsToError = (error_id: RawBuilder<unknown>) => sql`${error_id} = faultboard_errors.id`
  const tests = terms.map((term) => {
    const test = sql.join(
      // Written as a value. For `exists`, PostgreSQL reads the texts of all errors into a hash table first.
      termSources(term, belongsToError).map((source) => sql`(${source} limit 1) is not null`),
      sql` or `,
    )
    return term.isNegated ? sql`not (${test})` : sql`(${test})`
  })
  return sql<boolean>`(${sql.join(tests, sql` and `)})`
}

type ErrorIdCondition = (error_id: RawBuilder<unknown>) => RawBuilder<unknown>

/** Queries for the ids of errors with this text, one per table. */
function termSources(
  { pattern, kinds, hasFirstText, user_id }: TextTerm,
  condition: ErrorIdCondition,
): RawBuilder<{ error_id: number }>[] {
  const isMatch = sql`search_text like ${pattern} escape '!'`
  const first = sql<{ error_id: number }>`
    select error_id from faultboard_error_search where ${condition(sql`error_id`)} and ${isMatch}`
  const later = sql<{ error_id: number }>`
    select error_id from faultboard_search_history where ${condition(sql`error_id`)} and ${isMatch}
    ${kinds === null ? sql`` : sql`and kind in (${sql.join(kinds)})`}`
  const user = sql<{ error_id: number }>`
    select error_id from faultboard_error_users where ${condition(sql`error_id`)} and user_id = ${user_id}`
  return [...(hasFirstText ? [first] : []), later, ...(user_id === null ? [] : [user])]
}

/** Queries whose union contains the matching errors of a range. */
function queriesInRange(terms: readonly TextTerm[], { from, to }: Range): RawBuilder<{ error_id: number }>[] {
  const limit = sql.lit(MAX_COLLECTED_IDS + 1)
  const inRange: ErrorIdCondition = (error_id) => sql`${error_id} >= ${from} and ${error_id} < ${to}`
  const [only, ...others] = terms
  if (only && others.length === 0 && !only.isNegated) {
    // One query per table stops early for a common text.
    return termSources(only, inRange).map(
      (source) => sql`select distinct error_id from (${source}) as texts limit ${limit}`,
    )
  }
  return [
    sql`select id as error_id from faultboard_errors
      where ${inRange(sql`id`)} and ${matchesTexts(terms)} limit ${limit}`,
  ]
}

/** Smallest list of errors that the index finds for a term. Null without an index or if every list is too long. */
async function findCandidates({ read, dialect }: Database, terms: readonly TextTerm[]): Promise<number[] | null> {
  if (!(await dialect.search.hasIndex(read))) return null
  let smallest: number[] | null = null
  for (const { literal, user_id, isNegated } of terms) {
    const query = isNegated ? null : dialect.search.candidates(literal, MAX_CANDIDATES + 1)
    if (!query) continue
    const { rows } = await query.execute(read)
    const ids = new Set(rows.map(({ error_id }) => error_id))
    if (user_id !== null) for (const id of await findErrorsOfUser(read, user_id)) ids.add(id)
    if (ids.size <= MAX_CANDIDATES && ids.size < (smallest?.length ?? Number.POSITIVE_INFINITY)) smallest = [...ids]
  }
  return smallest
}

async function findErrorsOfUser(read: Database['read'], user_id: string): Promise<number[]> {
  const rows = await read
    .selectFrom('faultboard_error_users')
    .select('error_id')
    .where('user_id', '=', user_id)
    .limit(MAX_CANDIDATES + 1)
    .execute()
  return rows.map(({ error_id }) => error_id)
}

async function findMatchingIds(
  { read }: Database,
  terms: readonly TextTerm[],
  candidates: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from faultboard_errors where id in (${paddedIdList(candidates)}) and ${matchesTexts(terms)}`.execute(read)
  return rows.map(({ id }) => id)
}
