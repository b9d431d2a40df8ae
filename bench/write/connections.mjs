import { setTimeout as sleep } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { columnsOf, onConflict, TABLES } from './tables.mjs'

/** One interface for the three drivers. Statements are prepared if the driver supports it. */
export const CONNECT = { sqlite: connectSqlite, postgres: connectPostgres, mysql: connectMysql }

const STATE_COLUMNS = ['id', 'hash_signature', 'occurrence_count']

export async function openSqlite(file) {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') ?? (await import('@photostructure/sqlite'))
  return new DatabaseSync(file)
}

async function connectSqlite(url) {
  const db = await openSqlite(url.slice('sqlite:'.length))
  db.exec('pragma busy_timeout = 5000')
  db.exec('pragma journal_mode = wal')
  db.exec('pragma synchronous = normal')
  // SQLite would wait up to 100 ms between two attempts to lock the file.
  db.exec('pragma busy_timeout = 0')
  const begin = async () => {
    for (;;) {
      try {
        return db.exec('begin immediate')
      } catch (error) {
        if (!/locked/.test(error.message)) throw error
      }
      await sleep(1)
    }
  }
  const statements = new Map()
  const prepare = (sql) => {
    if (!statements.has(sql)) statements.set(sql, db.prepare(sql))
    return statements.get(sql)
  }
  const insertSql = (shape) =>
    `insert into ${shape.table} (${columnsOf(shape).join(', ')}) values (${columnsOf(shape).map(() => '?')})${onConflict(shape)}`
  return {
    begin,
    commit: async () => db.exec('commit'),
    run: async (sql, values) => prepare(sql).run(...values),
    all: async (sql) => db.prepare(sql).all(),
    async insert(shape, rows) {
      const statement = prepare(insertSql(shape))
      const columns = columnsOf(shape)
      for (const row of rows) statement.run(...columns.map((column) => row[column]))
    },
    async upsertGroups(rows) {
      const statement = prepare(`${insertSql(TABLES.errors)} returning ${STATE_COLUMNS.join(', ')}`)
      const columns = columnsOf(TABLES.errors)
      return states(rows.map((row) => statement.get(...columns.map((column) => row[column]))))
    },
    close: async () => db.close(),
  }
}

async function connectPostgres(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const insertSql = (shape) => {
    const arrays = columnsOf(shape).map((_, i) => `$${i + 1}::${i < shape.integers.length ? 'bigint' : 'text'}[]`)
    const columns = columnsOf(shape).map((column) => `"${column}"`)
    return `insert into ${shape.table} (${columns}) select * from unnest(${arrays})${onConflict(shape)}`
  }
  const query = (name, text, rows, shape) =>
    client.query({ name, text, values: columnsOf(shape).map((column) => rows.map((row) => row[column])) })
  return {
    begin: () => client.query('begin'),
    commit: () => client.query('commit'),
    run: (sql, values) => client.query(numberPlaceholders(sql), values),
    all: async (sql) => (await client.query(sql)).rows,
    insert: (shape, rows) => query(shape.table, insertSql(shape), rows, shape),
    async upsertGroups(rows) {
      const sql = `${insertSql(TABLES.errors)} returning ${STATE_COLUMNS.join(', ')}`
      return states((await query('groups', sql, rows, TABLES.errors)).rows)
    },
    close: () => client.end(),
  }
}

async function connectMysql(url) {
  const connection = await createConnection({ uri: url, charset: 'utf8mb4' })
  const insert = (shape, rows) => {
    const columns = columnsOf(shape)
    const values = rows.map((row) => columns.map((column) => row[column]))
    const head = `insert into ${shape.table} (${columns.map((column) => `\`${column}\``)}) values ?`
    return connection.query(`${head}${onDuplicateKey(shape)}`, [values])
  }
  return {
    begin: () => connection.query('begin'),
    commit: () => connection.query('commit'),
    run: (sql, values) => connection.query(sql, values),
    all: async (sql) => (await connection.query(sql))[0],
    insert,
    async upsertGroups(rows) {
      await insert(TABLES.errors, rows)
      const signatures = [rows.map((row) => row.hash_signature)]
      const [found] = await connection.query(
        `select ${STATE_COLUMNS} from faultboard_errors where application_id = ? and environment = ? and hash_signature in (?)`,
        [rows[0].application_id, rows[0].environment, ...signatures],
      )
      return states(found)
    },
    close: () => connection.end(),
  }
}

function onDuplicateKey({ key, add = [], replace = [] }) {
  if (!key) return ''
  const set = [
    ...add.map((column) => `\`${column}\` = \`${column}\` + values(\`${column}\`)`),
    ...replace.map((column) => `\`${column}\` = values(\`${column}\`)`),
  ]
  return ` on duplicate key update ${set.length > 0 ? set.join(', ') : `\`${key[0]}\` = \`${key[0]}\``}`
}

function states(rows) {
  return new Map(
    rows.map(({ id, hash_signature, occurrence_count }) => [
      hash_signature,
      { id: Number(id), occurrence_count: Number(occurrence_count) },
    ]),
  )
}

function numberPlaceholders(sql) {
  let i = 0
  return sql.replace(/\?/g, () => `$${++i}`)
}
