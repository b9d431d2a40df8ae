import type { Database } from '../../../src/store/database.js'
import { sql } from '../../../src/store/kysely.js'
import type { Dialect } from './database-servers.js'

interface TableDump {
  name: string
  /** Storage options that the other lines do not show. */
  options?: string
  /** One line per column, in the order of the table, then one line per key, index and trigger. */
  lines: string[]
}

/** Every table of the tracker with its columns, keys and indexes, as stable text for comparison. */
export async function dumpSchema({ read, dialect }: Database): Promise<string> {
  const tables = await DUMPS[dialect.name](read.withoutPlugins())
  return tables
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, options, lines }) => [
      `${name}${options ? ` ${options}` : ''}`,
      ...lines.map((line) => `  ${line}`),
    ])
    .join('\n')
    .concat('\n')
}

const DUMPS: Record<Dialect, (db: Database['read']) => Promise<TableDump[]>> = {
  sqlite: sqliteTables,
  postgres: postgresTables,
  mysql: mysqlTables,
}

interface SqliteTable {
  name: string
  type: string
  wr: number
}

async function sqliteTables(db: Database['read']): Promise<TableDump[]> {
  const { rows: tables } = await sql<SqliteTable>`
    select name, type, wr from pragma_table_list where schema = 'main' and name like 'faultboard%'`.execute(db)
  return Promise.all(
    // FTS5 creates its shadow tables itself.
    tables
      .filter(({ type }) => type !== 'shadow')
      .map(async ({ name, wr }) => ({
        name,
        ...(wr === 1 ? { options: 'without rowid' } : {}),
        lines: [
          ...(await sqliteColumns(db, name)),
          ...(await sqliteIndexes(db, name)),
          ...(await sqliteStatements(db, name)),
        ],
      })),
  )
}

async function sqliteColumns(db: Database['read'], table: string): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select name || ' ' || type || iif("notnull", ' not null', '') || coalesce(' default ' || dflt_value, '') ||
      iif(pk > 0, ' key ' || pk, '') as line from pragma_table_xinfo(${table}) order by cid`.execute(db)
  return rows.map(({ line }) => line)
}

async function sqliteIndexes(db: Database['read'], table: string): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select l.name || iif(l."unique", ' unique', '') || ' (' || (
        select group_concat(x.name, ', ') from pragma_index_info(l.name) x
      ) || ')' || coalesce(' ' || substr(m.sql, nullif(instr(m.sql, ' where '), 0) + 1), '') as line
    from pragma_index_list(${table}) l join sqlite_master m on m.name = l.name order by 1`.execute(db)
  return rows.map(({ line }) => line)
}

/** Definitions that no pragma shows: automatic ids, full-text tables and triggers. */
async function sqliteStatements(db: Database['read'], table: string): Promise<string[]> {
  const { rows } = await sql<{ type: string; sql: string }>`
    select type, sql from sqlite_master
    where tbl_name = ${table} and (type = 'trigger' or sql like 'create virtual%' or sql like '%autoincrement%')
    order by type, name`.execute(db)
  return rows.map(({ type, sql: text }) =>
    /autoincrement/i.test(text) ? 'id autoincrement' : `${type}: ${text.replace(/\s+/g, ' ')}`,
  )
}

async function postgresTables(db: Database['read']): Promise<TableDump[]> {
  const { rows } = await sql<{ name: string; line: string }>`
    select c.relname as name, a.attnum as place, concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attcollation <> t.typcollation then 'collate ' || o.collname end,
        case when a.attnotnull then 'not null' end, 'default ' || pg_get_expr(d.adbin, d.adrelid)) as line
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      join pg_type t on t.oid = a.atttypid left join pg_collation o on o.oid = a.attcollation
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    union all select c.relname, 10000, con.conname || ' ' || pg_get_constraintdef(con.oid)
      from pg_constraint con join pg_class c on c.oid = con.conrelid
      where c.relnamespace = current_schema()::regnamespace and con.contype in ('p', 'u', 'f', 'c')
    union all select tablename, 10001, indexname || ' ' || substring(indexdef from 'USING .*') ||
        case when indexdef like 'CREATE UNIQUE%' then ' unique' else '' end
      from pg_indexes where schemaname = current_schema()
    order by 1, 2, 3`.execute(db)
  return grouped(rows)
}

async function mysqlTables(db: Database['read']): Promise<TableDump[]> {
  const { rows } = await sql<{ name: string; line: string }>`
    select table_name as name, 0 as place, concat(engine, ' ', table_collation) as line
      from information_schema.tables where table_schema = database()
    union all select table_name, ordinal_position, concat_ws(' ', column_name, column_type,
        if(is_nullable = 'NO', 'not null', null), concat('default ', nullif(column_default, 'NULL')), nullif(extra, ''),
        collation_name)
      from information_schema.columns where table_schema = database()
    union all select table_name, 10000, concat(index_name, if(non_unique = 0, ' unique', ''), ' (',
        group_concat(column_name order by seq_in_index separator ', '), ')')
      from information_schema.statistics where table_schema = database() group by table_name, index_name, non_unique
    order by 1, 2, 3`.execute(db)
  // MariaDB shows the display width of integers, unlike MySQL.
  return grouped(rows.map(({ name, line }) => ({ name, line: line.replace(/\b(\w*int)\(\d+\)/, '$1') })))
}

function grouped(rows: readonly { name: string; line: string }[]): TableDump[] {
  const tables = new Map<string, TableDump>()
  for (const { name, line } of rows) {
    const table = tables.get(name) ?? { name, lines: [] }
    table.lines.push(line)
    tables.set(name, table)
  }
  return [...tables.values()].filter(({ name }) => name.startsWith('faultboard_'))
}
