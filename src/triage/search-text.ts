import type { Context } from '../context.js'
import type { Database } from '../store/database.js'
import { type RawBuilder, sql } from '../store/kysely.js'
import { oneOf } from './one-of.js'
import { steps } from './steps.js'

/** Beyond so many errors with the text they are not gathered, but tested one by one in the order of the list. */
const MOST_GATHERED = 2000
/** When the index leaves more rows than this, reading all texts in their order is quicker than picking those. */
const MOST_CANDIDATES = 1000

/** The ids of the errors with this text in message or backtrace, or null when they are more than are gathered. */
export async function errorsWithText({ database }: Context, text: string): Promise<number[] | null> {
  const candidates = await candidatesFor(database, text)
  if (candidates) return idsOf(database, sql`error_id in (${oneOf(candidates)})`, text, MOST_CANDIDATES)
  const found: number[] = []
  for await (const span of steps(database, 'faultboard_error_search', 'error_id')) {
    found.push(...(await idsOf(database, span, text, MOST_GATHERED + 1 - found.length)))
    if (found.length > MOST_GATHERED) return null
  }
  return found
}

/** Literal text, in any letter case: the stored text is lower case already, and `%` and `_` mean themselves. */
export function holds(text: string): RawBuilder<boolean> {
  const pattern = `%${text.toLowerCase().replace(/[!%_]/g, '!$&')}%`
  return sql<boolean>`search_text like ${pattern} escape '!'`
}

async function candidatesFor({ read, dialect }: Database, text: string): Promise<number[] | null> {
  const query = dialect.search.candidates(text.toLowerCase(), MOST_CANDIDATES + 1)
  if (!query || !(await dialect.search.isBuilt(read))) return null
  const { rows } = await query.execute(read)
  return rows.length > MOST_CANDIDATES ? null : rows.map(({ error_id }) => error_id)
}

async function idsOf({ read }: Database, among: RawBuilder<unknown>, text: string, limit: number): Promise<number[]> {
  const { rows } = await sql<{ error_id: number }>`
    select error_id from faultboard_error_search where ${among} and ${holds(text)} limit ${sql.lit(limit)}`.execute(
    read,
  )
  return rows.map(({ error_id }) => error_id)
}
