import type { Context } from '../../context.js'
import type { Database } from '../../store/database.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { errorIdRanges } from '../../store/timed-ranges.js'
import { oneOf } from './one-of.js'

/** Beyond so many errors with the text they are not gathered, but tested one by one in the order of the list. */
const MOST_GATHERED = 2000
/** When the index leaves more rows than this, reading all texts in their order is quicker than picking those. */
const MOST_CANDIDATES = 1000

type SearchTable = 'faultboard_error_search' | 'faultboard_search_history'

/** The first texts of errors, and later ones. */
export const SEARCH_TABLES: readonly SearchTable[] = ['faultboard_error_search', 'faultboard_search_history']

/** The ids of the errors with this text in message or backtrace, or null when they are more than are gathered. */
export async function errorsWithText({ database }: Context, text: string): Promise<number[] | null> {
  const candidates = await candidatesFor(database, text)
  const found = new Set<number>()
  for (const table of SEARCH_TABLES) {
    if (candidates) {
      const ids = await idsOf(database, table, sql`error_id in (${oneOf(candidates)})`, text, MOST_CANDIDATES)
      for (const id of ids) found.add(id)
      continue
    }
    for await (const { from, to } of errorIdRanges(database)) {
      const span = sql`error_id >= ${from} and error_id < ${to}`
      for (const id of await idsOf(database, table, span, text, MOST_GATHERED + 1)) found.add(id)
      if (found.size > MOST_GATHERED) return null
    }
  }
  return [...found]
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

async function idsOf(
  { read }: Database,
  table: SearchTable,
  among: RawBuilder<unknown>,
  text: string,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ error_id: number }>`
    select distinct error_id from ${sql.table(table)} where ${among} and ${holds(text)} limit ${sql.lit(limit)}`.execute(
    read,
  )
  return rows.map(({ error_id }) => error_id)
}
