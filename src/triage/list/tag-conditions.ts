import type { Context } from '../../context.js'
import { parseQuery } from '../../model/search-query.js'
import { possibleTags, type TagFilter } from '../../model/tags.js'
import { cleanText } from '../../model/text.js'
import type { Dialect } from '../../store/dialect.js'
import { type Expression, type RawBuilder, type SqlBool, sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import type { ErrorsExpression } from './occurrence-conditions.js'

export const MAX_TAG_LENGTH = 300
/** For up to this many rows of a tag, collecting error ids is faster than a lookup for each error. */
const MAX_COLLECTED_ROWS = 10_000

/** Tags of which an error must have at least one. With `isPrefix`, the last text matches as a prefix. */
export interface TagCondition {
  tags: readonly TagFilter[]
  isPrefix: boolean
}

/** Rows of each tag of a filter, counted up to MAX_COLLECTED_ROWS + 1. */
export type TagRows = ReadonlyMap<string, number>

/** Distinct tags of a filter, such as `city:Berlin`. */
export function tagLines(tag: string | undefined): string[] {
  const lines = (tag ?? '').split(/\r?\n/).map((line) => cleanText(line.trim(), MAX_TAG_LENGTH))
  return [...new Set(lines.filter((line) => line !== ''))]
}

/** Condition for one line of `tag`. */
export function lineCondition(line: string): TagCondition {
  return { tags: possibleTags(line, ':'), isPrefix: false }
}

/** Condition for a `tag:` term in `query`. */
export function termCondition([text = '', ...wildcards]: readonly string[]): TagCondition {
  return { tags: possibleTags(text, '='), isPrefix: wildcards.length > 0 }
}

interface FilteredTags {
  tag?: string | undefined
  query?: string | undefined
}

function tagConditions({ tag, query }: FilteredTags): TagCondition[] {
  const terms = query === undefined ? [] : parseQuery(query)
  return [
    ...tagLines(tag).map(lineCondition),
    ...terms.filter(({ key }) => key === 'tag').map(({ parts }) => termCondition(parts)),
  ]
}

/** Counts the rows of all tags of a filter, because the estimates of databases lead to slow query plans. */
export async function countTagRows({ database: { read, dialect } }: Context, filter: FilteredTags): Promise<TagRows> {
  const tests = new Map<string, RawBuilder<boolean>>()
  for (const { tags, isPrefix } of tagConditions(filter))
    for (const tag of tags) tests.set(tagName(tag, isPrefix), isTag(dialect, tag, isPrefix))
  if (tests.size === 0) return new Map()
  const counts = [...tests.values()].map(
    (test, i) => sql`(select count(*) from (
      select error_id from faultboard_error_tags as tags where ${test} limit ${sql.lit(MAX_COLLECTED_ROWS + 1)}
    ) as counted) as ${sql.ref(`count_${i}`)}`,
  )
  const { rows } = await sql<Record<string, number>>`select ${sql.join(counts)}`.execute(read)
  return new Map([...tests.keys()].map((name, i) => [name, Number(rows[0]?.[`count_${i}`] ?? 0)]))
}

/** Row counts for which `hasTag` collects all ids. Faster for a statement that reads all errors on a database server. */
export function collectedTagRows(rows: TagRows): TagRows {
  return new Map([...rows].map(([name, count]) => [name, Math.min(count, MAX_COLLECTED_ROWS)]))
}

/** Row counts for which `hasTag` looks up each error. Faster for a statement that stops early. */
export function lookedUpTagRows(rows: TagRows): TagRows {
  return new Map([...rows].map(([name, count]) => [name, count === 0 ? 0 : MAX_COLLECTED_ROWS + 1]))
}

/** Checks whether the filter contains a tag without a value, or the start of a tag, that has many rows. */
export function hasCommonTagPattern(filter: FilteredTags, rows: TagRows): boolean {
  return tagConditions(filter).some(({ tags, isPrefix }) =>
    tags.some((tag) => (isPrefix || tag.value === null) && isCommon(rows.get(tagName(tag, isPrefix)) ?? 0)),
  )
}

/** Checks whether all tags of a filter are looked up for each error, without collecting ids. */
export function usesTagLookups(filter: FilteredTags, rows: TagRows): boolean {
  return tagConditions(filter).every(({ tags, isPrefix }) =>
    tags.every((tag) => {
      const count = rows.get(tagName(tag, isPrefix)) ?? 0
      return count === 0 || isCommon(count)
    }),
  )
}

/** Errors with at least one occurrence that has one of the tags. */
export function hasTag(
  eb: ErrorsExpression,
  dialect: Dialect,
  { tags, isPrefix }: TagCondition,
  rows: TagRows,
): Expression<SqlBool> {
  const tests = tags.flatMap((tag) => {
    const count = rows.get(tagName(tag, isPrefix)) ?? 0
    if (count === 0) return []
    const test = isTag(dialect, tag, isPrefix)
    // Written as a value, because PostgreSQL and MySQL turn `exists` into a join that reads all rows of the tag.
    if (isCommon(count))
      return sql<boolean>`(select tags.error_id from faultboard_error_tags as tags
        where tags.error_id = faultboard_errors.id and ${test} limit 1) is not null`
    // MariaDB takes twice as long without `distinct`, because it joins the rows of the tag first.
    return sql<boolean>`${withoutIndex(dialect, 'faultboard_errors.id')} in (
      select distinct tags.error_id from faultboard_error_tags as tags where ${test})`
  })
  return eb.or(tests)
}

function isCommon(rows: number): boolean {
  return rows > MAX_COLLECTED_ROWS
}

function tagName({ key, value }: TagFilter, isPrefix: boolean): string {
  return JSON.stringify([key, value, isPrefix])
}

function isTag(dialect: Dialect, { key, value }: TagFilter, isPrefix: boolean): RawBuilder<boolean> {
  const test = (column: 'tags.tag_key' | 'tags.tag_value', text: string, isStart: boolean) =>
    isStart ? dialect.startsWith(sql.ref(column), text) : sql<boolean>`${sql.ref(column)} = ${text}`
  const hasKey = test('tags.tag_key', key, isPrefix && value === null)
  return value === null ? hasKey : sql<boolean>`${hasKey} and ${test('tags.tag_value', value, isPrefix)}`
}
