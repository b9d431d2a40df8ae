import type { Context } from '../../context.js'
import type { Database } from '../../store/database.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { errorIdRanges } from '../../store/sql/timed-ranges.js'
import { paddedIdList } from './padded-id-list.js'

/** With more matches, errors are tested one by one in list order. */
const MAX_COLLECTED_IDS = 2000
/** With more candidates, scanning all texts is faster than loading individual rows. */
const MAX_CANDIDATES = 1000

type SearchTable = 'faultboard_error_search' | 'faultboard_search_history'

/** The first table stores the initial text of each error, the second its later texts. */
export const SEARCH_TABLES: readonly SearchTable[] = ['faultboard_error_search', 'faultboard_search_history']

/** Ids of errors with this text in message or backtrace. Null if there are too many to collect. */
export async function findErrorsWithText({ database }: Context, text: string): Promise<number[] | null> {
  const candidates = await findCandidates(database, text)
  const found = new Set<number>()
  for (const table of SEARCH_TABLES) {
    if (candidates) {
      const ids = await findMatchingIds(
        database,
        table,
        sql`error_id in (${paddedIdList(candidates)})`,
        text,
        MAX_CANDIDATES,
      )
      for (const id of ids) found.add(id)
      continue
    }
    for await (const { from, to } of errorIdRanges(database)) {
      const span = sql`error_id >= ${from} and error_id < ${to}`
      for (const id of await findMatchingIds(database, table, span, text, MAX_COLLECTED_IDS + 1)) found.add(id)
      if (found.size > MAX_COLLECTED_IDS) return null
    }
  }
  return [...found]
}

/** Literal, case-insensitive match: the stored text is lower case, and `%` and `_` are escaped. */
export function containsText(text: string): RawBuilder<boolean> {
  const pattern = `%${text.toLowerCase().replace(/[!%_]/g, '!$&')}%`
  return sql<boolean>`search_text like ${pattern} escape '!'`
}

async function findCandidates({ read, dialect }: Database, text: string): Promise<number[] | null> {
  const query = dialect.search.candidates(text.toLowerCase(), MAX_CANDIDATES + 1)
  if (!query || !(await dialect.search.hasIndex(read))) return null
  const { rows } = await query.execute(read)
  return rows.length > MAX_CANDIDATES ? null : rows.map(({ error_id }) => error_id)
}

async function findMatchingIds(
  { read }: Database,
  table: SearchTable,
  condition: RawBuilder<unknown>,
  text: string,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ error_id: number }>`
    select distinct error_id from ${sql.table(table)} where ${condition} and ${containsText(text)} limit ${sql.lit(limit)}`.execute(
    read,
  )
  return rows.map(({ error_id }) => error_id)
}
