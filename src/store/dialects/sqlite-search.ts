import type { SearchedTable, TextSearch } from '../dialect.js'
import { sql } from '../kysely.js'

interface Indexed {
  index: string
  table: string
  key: string
}

const TABLES: Record<SearchedTable, Indexed> = {
  first: { index: 'faultboard_error_search_index', table: 'faultboard_error_search', key: 'error_id' },
  history: { index: 'faultboard_search_history_index', table: 'faultboard_search_history', key: 'id' },
}
const { first, history } = TABLES

/** Rows of three letters; shorter text has none, and is looked for in every row. */
const GRAM = 3
/** So many of them leave few rows to be read; each costs time for every row it is in. */
const MOST_GRAMS = 12

/**
 * An FTS5 table of trigrams beside each searched table, kept by triggers. It holds which rows have a trigram and not
 * where, which takes a sixth of the space and half of the writing; the text itself is compared afterwards.
 * Segments are merged in groups of 16 instead of 4, because a flush adds few texts and merging dominates its cost.
 */
export const sqliteSearch: TextSearch = {
  async build(db, which) {
    const { index, table, key } = TABLES[which]
    try {
      await sql`create virtual table if not exists ${sql.table(index)} using fts5(
        search_text, content = ${sql.lit(table)}, content_rowid = ${sql.lit(key)},
        tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0)`.execute(db)
    } catch {
      // A build of SQLite without FTS5, or from before its trigrams: `search` reads every text instead.
      return
    }
    await sql`insert into ${sql.table(index)} (${sql.ref(index)}) values ('rebuild')`.execute(db)
    await sql`insert into ${sql.table(index)} (${sql.ref(index)}, rank) values ('automerge', 16)`.execute(db)
    for (const trigger of triggersOf(TABLES[which])) await sql.raw(trigger).execute(db)
  },

  async isBuilt(db) {
    const { rows } = await sql`
      select 1 from sqlite_master where name in (${first.index}, ${history.index})`.execute(db)
    return rows.length === 2
  },

  candidates(text, limit) {
    const grams = gramsOf(text)
    if (grams.length === 0) return null
    const match = grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(' AND ')
    return sql`
      select rowid as error_id from ${sql.table(first.index)} where ${sql.ref(first.index)} match ${match}
      union
      select error_id from ${sql.table(history.table)} where id in (
        select rowid from ${sql.table(history.index)} where ${sql.ref(history.index)} match ${match})
      limit ${sql.lit(limit)}`
  },
}

function triggersOf({ index, table, key }: Indexed): string[] {
  const remove = `insert into ${index} (${index}, rowid, search_text) values ('delete', old.${key}, old.search_text);`
  const add = `insert into ${index} (rowid, search_text) values (new.${key}, new.search_text);`
  return [
    `create trigger if not exists ${index}_insert after insert on ${table} begin ${add} end`,
    `create trigger if not exists ${index}_delete after delete on ${table} begin ${remove} end`,
    `create trigger if not exists ${index}_update after update on ${table} begin ${remove} ${add} end`,
  ]
}

/** Those trigrams of the text that are likely to be in the fewest rows. */
function gramsOf(text: string): string[] {
  const letters = [...text]
  const grams = new Set<string>()
  for (let at = 0; at + GRAM <= letters.length; at++) grams.add(letters.slice(at, at + GRAM).join(''))
  return [...grams].sort((a, b) => rarity(b) - rarity(a)).slice(0, MOST_GRAMS)
}

/** A guess for messages and backtraces, which have numbers of lines and things of their own, but share their paths. */
function rarity(gram: string): number {
  let sum = 0
  for (const letter of gram)
    sum += letter > '~' ? 3 : /\d/.test(letter) ? 2 : /[bgjkqvwxyz_#?&%"']/.test(letter) ? 1 : 0
  return sum
}
