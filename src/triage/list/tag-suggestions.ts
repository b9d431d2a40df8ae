import * as v from 'valibot'
import type { Context } from '../../context.js'
import { filterText } from '../../model/input/input.js'
import * as r from '../../model/result.js'
import { parseTag } from '../../model/tags.js'
import { defineOperation } from '../../operation.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { MORE_VALUES } from '../../store/schema.js'

const MAX_SUGGESTIONS = 20

export const TagSuggestions = r.object({
  /** Keys such as `city=`, or after a `=` tags such as `city=berlin`. */
  tags: r.list(r.text),
  /** Whether an error has more values of this key than filters can find. */
  has_more_values: r.boolean,
})
export type TagSuggestions = v.InferOutput<typeof TagSuggestions>

/** Suggests tags that start with a text. */
export const tagSuggestions = defineOperation({
  input: v.object({ start: filterText({ max: 300, note: 'such as `ci` or `city=ber`' }) }),
  async run(context, { start = '' }): Promise<TagSuggestions> {
    const { key, value } = parseTag(start, '=')
    if (!start.includes('=')) {
      const keys = await distinctTexts(context, { column: 'tag_key', start: key })
      return { tags: keys.map((found) => `${found}=`), has_more_values: false }
    }
    const values = await distinctTexts(context, { column: 'tag_value', key, start: value ?? '' })
    return { tags: values.map((found) => `${key}=${found}`), has_more_values: await hasMoreValues(context, key) }
  },
})

/** Reads one distinct text per statement from the index, because a tag can have a row for every error. */
async function distinctTexts(
  { database }: Context,
  { column, key, start }: { column: 'tag_key' | 'tag_value'; key?: string; start: string },
): Promise<string[]> {
  const texts: string[] = []
  const ofKey = key === undefined ? sql`` : sql`tag_key = ${key} and `
  // The mark for more values sorts first. MySQL would read all values with a further condition.
  let after: RawBuilder<unknown> = start === MORE_VALUES ? sql`> ${MORE_VALUES}` : sql`>= ${start}`
  while (texts.length < MAX_SUGGESTIONS) {
    const { rows } = await sql<{ next: string | null }>`
      select min(${sql.ref(column)}) as next from faultboard_error_tags
      where ${ofKey}${sql.ref(column)} ${after}`.execute(database.read)
    const next = rows[0]?.next ?? null
    if (next === null || !next.startsWith(start)) break
    texts.push(next)
    after = sql`> ${next}`
  }
  return texts
}

async function hasMoreValues({ database }: Context, key: string): Promise<boolean> {
  const row = await database.read
    .selectFrom('faultboard_error_tags')
    .select('error_id')
    .where('tag_key', '=', key)
    .where('tag_value', '=', MORE_VALUES)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Keys with more values in this error than filters can find. */
export async function keysWithMoreValues({ database }: Context, error_id: number): Promise<string[]> {
  const rows = await database.read
    .selectFrom('faultboard_error_tags')
    .select('tag_key')
    .where('error_id', '=', error_id)
    .where('tag_value', '=', MORE_VALUES)
    .execute()
  return rows.map(({ tag_key }) => tag_key)
}
