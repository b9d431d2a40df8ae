import * as v from 'valibot'
import type { Context } from '../../context.js'
import { filterText } from '../../model/input/input.js'
import { type Scope, scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { MAX_TAG_KEYS, parseTag, type Tag } from '../../model/tags.js'
import { OMITTED_KEYS } from '../../model/text.js'
import { defineOperation } from '../../operation.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { MORE_VALUES } from '../../store/schema.js'

const MAX_SUGGESTIONS = 20

export const TagSuggestions = r.object({
  /** Keys such as `city=`, or tags such as `city=berlin` after a `=`. */
  tags: r.list(r.text),
  /** True if an error has more values of this key than filters can find. */
  has_more_values: r.boolean,
})
export type TagSuggestions = v.InferOutput<typeof TagSuggestions>

/**
 * Suggests tags that start with a text. With an application or environment, searches only its most recently
 * seen errors.
 */
export const tagSuggestions = defineOperation({
  input: v.object({ start: filterText({ max: 300, note: 'such as `ci` or `city=ber`' }), ...scopeInput }),
  async run(context, { start = '', application_id, environment }): Promise<TagSuggestions> {
    const scope = { application_id, environment }
    const findTexts = (texts: WantedTexts) =>
      isUnscoped(scope) ? distinctTexts(context, texts) : recentTexts(context, texts, scope)
    const { key, value } = parseTag(start, '=')
    if (!start.includes('=')) {
      const keys = await findTexts({ column: 'tag_key', start: key })
      const tags = keys.filter((found) => found !== OMITTED_KEYS).map((found) => `${found}=`)
      return { tags, has_more_values: false }
    }
    const values = await findTexts({ column: 'tag_value', key, start: value ?? '' })
    const has_more_values = await hasMoreValues(context, key, scope)
    return { tags: values.map((found) => `${key}=${found}`), has_more_values }
  },
})

interface WantedTexts {
  column: 'tag_key' | 'tag_value'
  key?: string
  start: string
}

function isUnscoped({ application_id, environment }: Scope): boolean {
  return application_id === undefined && environment === undefined
}

/** Reads one distinct text per statement from the index, because a tag can have a row for every error. */
async function distinctTexts({ database }: Context, { column, key, start }: WantedTexts): Promise<string[]> {
  const texts: string[] = []
  const keyCondition = key === undefined ? sql`` : sql`tag_key = ${key} and `
  // Starts after MORE_VALUES, which sorts first. With another condition, MySQL would read all values.
  let after: RawBuilder<unknown> = start === MORE_VALUES ? sql`> ${MORE_VALUES}` : sql`>= ${start}`
  while (texts.length < MAX_SUGGESTIONS) {
    const { rows } = await sql<{ next: string | null }>`
      select min(${sql.ref(column)}) as next from faultboard_error_tags
      where ${keyCondition}${sql.ref(column)} ${after}`.execute(database.read)
    const next = rows[0]?.next ?? null
    if (next === null || !next.startsWith(start)) break
    texts.push(next)
    after = sql`> ${next}`
  }
  return texts
}

/**
 * Limits the errors of a scope, because tags have no application or environment. Otherwise, a tag that is common
 * elsewhere would be read completely.
 */
const MAX_RECENT_ERRORS = 1000

async function recentTexts(
  { database }: Context,
  { column, key, start }: WantedTexts,
  scope: Scope,
): Promise<string[]> {
  const pattern = `${start.replace(/[!%_]/g, '!$&')}%`
  const { rows } = await sql<{ found: string }>`
    select distinct ${sql.ref(column)} as found from ${recentTags(scope)}
    where ${key === undefined ? sql`` : sql`tag_key = ${key} and tag_value <> ${MORE_VALUES} and `}
    ${sql.ref(column)} like ${pattern} escape '!'
    order by found limit ${sql.lit(MAX_SUGGESTIONS)}`.execute(database.read)
  return rows.map(({ found }) => found)
}

function recentTags({ application_id, environment }: Scope): RawBuilder<unknown> {
  const conditions = [
    ...(application_id === undefined ? [] : [sql`application_id = ${application_id}`]),
    ...(environment === undefined ? [] : [sql`environment = ${environment}`]),
  ]
  return sql`(
    select id from faultboard_errors where ${sql.join(conditions, sql` and `)}
    order by occurred_at desc limit ${sql.lit(MAX_RECENT_ERRORS)}
  ) as recent inner join faultboard_error_tags on error_id = recent.id`
}

async function hasMoreValues({ database }: Context, key: string, scope: Scope): Promise<boolean> {
  const { rows } = await sql`
    select error_id from ${isUnscoped(scope) ? sql`faultboard_error_tags` : recentTags(scope)}
    where tag_key = ${key} and tag_value = ${MORE_VALUES} limit 1`.execute(database.read)
  return rows.length > 0
}

/** Tags of an error in the form that filters find. */
export interface FindableTags {
  tags: Tag[]
  /** Keys with more values in this error than filters can find. Contains `OMITTED_KEYS` if the error has too many keys. */
  fullKeys: string[]
}

/** Returns the subset of tags that filters find in this error. */
export async function findableTags(
  { database }: Context,
  error_id: number,
  wanted: readonly Tag[],
): Promise<FindableTags> {
  if (wanted.length === 0) return { tags: [], fullKeys: [] }
  // An imported occurrence can have any number of tags, and SQLite looks up each combination of key and value.
  const examined = wanted.slice(0, MAX_TAG_KEYS)
  const rows = await database.read
    .selectFrom('faultboard_error_tags')
    .select(['tag_key as key', 'tag_value as value'])
    .where('error_id', '=', error_id)
    .where('tag_key', 'in', [OMITTED_KEYS, ...examined.map(({ key }) => key)])
    .where('tag_value', 'in', [MORE_VALUES, ...examined.map(({ value }) => value)])
    .execute()
  return {
    tags: rows.filter(({ value }) => value !== MORE_VALUES),
    fullKeys: rows.filter(({ value }) => value === MORE_VALUES).map(({ key }) => key),
  }
}
