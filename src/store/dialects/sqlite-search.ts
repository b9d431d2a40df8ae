import type { TextSearch } from '../dialect.js'
import { sql } from '../kysely.js'

const INDEX = 'faultboard_error_search_index'

/** Rows of three letters; shorter text has none, and is looked for in every row. */
const GRAM = 3
/** So many of them leave few rows to be read; each costs time for every row it is in. */
const MOST_GRAMS = 12

/**
 * An FTS5 table of trigrams beside `faultboard_error_search`, kept by triggers. It holds which rows have a trigram and
 * not where, which takes a sixth of the space and half of the writing; the text itself is compared afterwards.
 */
export const sqliteSearch: TextSearch = {
  async build(db) {
    try {
      await sql`create virtual table if not exists ${sql.table(INDEX)} using fts5(
        search_text, content = 'faultboard_error_search', content_rowid = 'error_id',
        tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0)`.execute(db)
    } catch {
      // A build of SQLite without FTS5, or from before its trigrams: `search` reads every text instead.
      return
    }
    await sql`insert into ${sql.table(INDEX)} (${sql.ref(INDEX)}) values ('rebuild')`.execute(db)
    for (const trigger of TRIGGERS) await sql.raw(trigger).execute(db)
  },

  async isBuilt(db) {
    const { rows } = await sql`select 1 from sqlite_master where name = ${INDEX}`.execute(db)
    return rows.length > 0
  },

  candidates(text, limit) {
    const grams = gramsOf(text)
    if (grams.length === 0) return null
    const match = grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(' AND ')
    return sql`select rowid as error_id from ${sql.table(INDEX)}
      where ${sql.ref(INDEX)} match ${match} limit ${sql.lit(limit)}`
  },
}

const REMOVE = `insert into ${INDEX} (${INDEX}, rowid, search_text) values ('delete', old.error_id, old.search_text);`
const ADD = `insert into ${INDEX} (rowid, search_text) values (new.error_id, new.search_text);`

const TRIGGERS = [
  `create trigger if not exists ${INDEX}_insert after insert on faultboard_error_search begin ${ADD} end`,
  `create trigger if not exists ${INDEX}_delete after delete on faultboard_error_search begin ${REMOVE} end`,
  `create trigger if not exists ${INDEX}_update after update on faultboard_error_search begin ${REMOVE} ${ADD} end`,
]

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
