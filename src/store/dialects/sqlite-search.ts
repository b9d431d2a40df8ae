import type { SearchedTable, TextSearch } from '../dialect.js'
import { sql } from '../kysely.js'

interface SearchIndex {
  index: string
  table: string
  key: string
}

const TABLES: Record<SearchedTable, SearchIndex> = {
  first: { index: 'faultboard_error_search_index', table: 'faultboard_error_search', key: 'error_id' },
  history: { index: 'faultboard_search_history_index', table: 'faultboard_search_history', key: 'id' },
}
const { first, history } = TABLES

/** Shorter text has no trigram, so its search reads every row. */
const TRIGRAM_LENGTH = 3
/** Enough to exclude most rows. Each trigram takes time for every row that contains it. */
const MAX_TRIGRAMS = 12

/** Contains the highest id of the history that is in the index. A repair skips tables whose name starts like an index. */
const INDEX_PROGRESS_TABLE = 'faultboard_search_history_indexed'
/**
 * Number of history texts that are added to the index together. Most texts of an error whose message changes
 * constantly are trimmed before that, so they never cost an index write. More would block the host for longer.
 */
const BATCH_SIZE = 64

/**
 * FTS5 index of trigrams for each searched table, updated by triggers. It stores the rows of a trigram but not the
 * positions, which takes a sixth of the space and half of the write time. The query compares the full text afterward,
 * and compares the newest texts of the history without the index.
 * Segments are merged in groups of 16 instead of 4, because a flush adds few texts and merging dominates its cost.
 */
export const sqliteSearch: TextSearch = {
  async build(db, searchedTable) {
    const { index, table, key } = TABLES[searchedTable]
    try {
      await sql`create virtual table if not exists ${sql.table(index)} using fts5(
        search_text, content = ${sql.lit(table)}, content_rowid = ${sql.lit(key)},
        tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0)`.execute(db)
    } catch {
      // This SQLite has no FTS5 or no trigram tokenizer. The search reads every row instead.
      return
    }
    await sql`insert into ${sql.table(index)} (${sql.ref(index)}) values ('rebuild')`.execute(db)
    await sql`insert into ${sql.table(index)} (${sql.ref(index)}, rank) values ('automerge', 16)`.execute(db)
    for (const statement of searchedTable === 'first' ? firstTriggers() : historyTriggers())
      await sql.raw(statement).execute(db)
  },

  async hasIndex(db) {
    const { rows } = await sql`
      select 1 from sqlite_master where name in (${first.index}, ${history.index})`.execute(db)
    return rows.length === 2
  },

  candidates(text, limit) {
    const trigrams = selectTrigrams(text)
    if (trigrams.length === 0) return null
    const match = trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ')
    // Limits each part too, so that a search for a common text does not read all matching rows.
    return sql`
      select error_id from (
        select rowid as error_id from ${sql.table(first.index)} where ${sql.ref(first.index)} match ${match}
        limit ${sql.lit(limit)})
      union
      select error_id from (
        select distinct error_id from ${sql.table(history.index)}
        join ${sql.table(history.table)} on ${sql.ref(`${history.table}.id`)} = ${sql.ref(`${history.index}.rowid`)}
        where ${sql.ref(history.index)} match ${match} limit ${sql.lit(limit)})
      union
      select error_id from ${sql.table(history.table)} where id > (select last_id from ${sql.table(INDEX_PROGRESS_TABLE)})
      limit ${sql.lit(limit)}`
  },
}

function firstTriggers(): string[] {
  const { index, table } = first
  const { add, remove } = indexChanges(first)
  return [
    `create trigger if not exists ${index}_insert after insert on ${table} begin ${add} end`,
    `create trigger if not exists ${index}_delete after delete on ${table} begin ${remove} end`,
    `create trigger if not exists ${index}_update after update on ${table} begin ${remove} ${add} end`,
  ]
}

function historyTriggers(): string[] {
  const { index, table } = history
  const { add, remove } = indexChanges(history)
  const lastId = `(select last_id from ${INDEX_PROGRESS_TABLE})`
  return [
    `create table if not exists ${INDEX_PROGRESS_TABLE} (last_id integer not null)`,
    `delete from ${INDEX_PROGRESS_TABLE}`,
    `insert into ${INDEX_PROGRESS_TABLE} select coalesce(max(id), 0) from ${table}`,
    // Adds only this row if an import inserts it below the last id.
    `create trigger if not exists ${index}_insert after insert on ${table}
      when new.id <= ${lastId} or new.id >= ${lastId} + ${BATCH_SIZE}
    begin
      insert into ${index} (rowid, search_text)
        select id, search_text from ${table} where id > min(${lastId}, new.id - 1) and id <= new.id;
      update ${INDEX_PROGRESS_TABLE} set last_id = max(last_id, new.id);
    end`,
    `create trigger if not exists ${index}_delete after delete on ${table} when old.id <= ${lastId} begin ${remove} end`,
    `create trigger if not exists ${index}_update after update on ${table} when old.id <= ${lastId}
      begin ${remove} ${add} end`,
  ]
}

function indexChanges({ index, key }: SearchIndex): { add: string; remove: string } {
  return {
    add: `insert into ${index} (rowid, search_text) values (new.${key}, new.search_text);`,
    remove: `insert into ${index} (${index}, rowid, search_text) values ('delete', old.${key}, old.search_text);`,
  }
}

/** Returns the trigrams of the text that are probably in the fewest rows. */
function selectTrigrams(text: string): string[] {
  const characters = [...text]
  const trigrams = new Set<string>()
  for (let start = 0; start + TRIGRAM_LENGTH <= characters.length; start++) {
    trigrams.add(characters.slice(start, start + TRIGRAM_LENGTH).join(''))
  }
  return [...trigrams].sort((a, b) => estimateRarity(b) - estimateRarity(a)).slice(0, MAX_TRIGRAMS)
}

/** Heuristic for messages and backtraces: paths repeat in many rows, line numbers and unusual letters do not. */
function estimateRarity(trigram: string): number {
  let score = 0
  for (const character of trigram) {
    score += character > '~' ? 3 : /\d/.test(character) ? 2 : /[bgjkqvwxyz_#?&%"']/.test(character) ? 1 : 0
  }
  return score
}
