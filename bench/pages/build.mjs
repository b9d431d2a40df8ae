import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { freshDatabase, migrateUrl } from '../harness/databases.mjs'
import { openSqlite } from '../write/connections.mjs'
import { buildDataset } from './dataset.mjs'

const FOLDER = fileURLToPath(new URL('../data/', import.meta.url))
const MAX_ROWS_PER_INSERT = 5000

/** Returns the file of an SQLite data set. Built on first use and cached by schema and builder. */
export async function sqliteDataset(occurrences) {
  const file = `${FOLDER}pages-${occurrences}-${version()}.sqlite3`
  if (existsSync(file)) return file
  mkdirSync(FOLDER, { recursive: true })
  const unfinishedFile = `${file}.building`
  remove(unfinishedFile, '', ...LOG_SUFFIXES)
  await migrateUrl(`sqlite:${unfinishedFile}`)
  await buildAndLog('SQLite', occurrences, () => fillSqlite(unfinishedFile, occurrences))
  renameSync(unfinishedFile, file)
  remove(unfinishedFile, ...LOG_SUFFIXES)
  return file
}

// The file is complete after the checkpoint. The remaining -wal and -shm files belong to its old name.
const LOG_SUFFIXES = ['-wal', '-shm']

function remove(file, ...suffixes) {
  for (const suffix of suffixes) rmSync(`${file}${suffix}`, { force: true })
}

/** Builds a data set in a new database of a running server. */
export async function serverDataset(dialect, server, occurrences) {
  const { url } = await freshDatabase(dialect, server)
  const { name, fill } = SERVERS[dialect]
  await buildAndLog(name, occurrences, () => fill(url, occurrences))
  return url
}

async function fillSqlite(file, occurrences) {
  const db = await openSqlite(file)
  for (const setting of ['synchronous = off', 'cache_size = -400000', 'temp_store = memory'])
    db.exec(`pragma ${setting}`)
  db.exec('begin')
  const statements = new Map()
  await buildDataset(occurrences, (table, row) => {
    const shape = `${table} ${Object.keys(row)}`
    if (!statements.has(shape)) {
      const columns = Object.keys(row).map((column) => `"${column}"`)
      statements.set(shape, db.prepare(`insert into ${table} (${columns}) values (${columns.map(() => '?')})`))
    }
    statements.get(shape).run(...Object.values(row))
  })
  db.exec('commit')
  db.exec('pragma wal_checkpoint(truncate)')
  db.close()
}

const SERVERS = {
  postgres: { name: 'PostgreSQL', fill: fillPostgres },
  mysql: { name: 'MariaDB', fill: fillMysql },
}

async function fillPostgres(url, occurrences) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('set synchronous_commit = off')
  await addInBatches(occurrences, async (table, columns, rows) => {
    const arrays = columns.map((column, i) => `$${i + 1}::${arrayType(rows.map((row) => row[column]))}[]`)
    await client.query(
      `insert into ${table} (${columns.map((column) => `"${column}"`)}) select * from unnest(${arrays})`,
      columns.map((column) => rows.map((row) => row[column])),
    )
  })
  await client.query('vacuum analyze')
  await client.end()
}

async function fillMysql(url, occurrences) {
  const connection = await createConnection(url)
  for (const check of ['unique_checks', 'foreign_key_checks', 'autocommit'])
    await connection.query(`set session ${check} = 0`)
  const tables = new Set()
  await addInBatches(occurrences, async (table, columns, rows) => {
    tables.add(table)
    const names = columns.map((column) => `\`${column}\``)
    await connection.query(`insert into ${table} (${names}) values ?`, [
      rows.map((row) => columns.map((column) => row[column])),
    ])
    await connection.query('commit')
  })
  await connection.query(`analyze table ${[...tables]}`)
  await connection.end()
}

/** Builds a data set with `insert(table, columns, rows)`. */
async function addInBatches(occurrences, insert) {
  const waiting = new Map()
  const flush = async (table) => {
    const rows = waiting.get(table)
    waiting.delete(table)
    await insert(table, Object.keys(rows[0]), rows)
  }
  await buildDataset(occurrences, async (table, row) => {
    if (!waiting.has(table)) waiting.set(table, [])
    if (waiting.get(table).push(row) >= MAX_ROWS_PER_INSERT) await flush(table)
  })
  for (const table of [...waiting.keys()]) await flush(table)
}

function arrayType(values) {
  if (values.some((value) => typeof value === 'string')) return 'text'
  return values.every((value) => value === null || Number.isInteger(value)) ? 'bigint' : 'double precision'
}

async function buildAndLog(database, occurrences, work) {
  const started = performance.now()
  await work()
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.log(`built ${occurrences.toLocaleString('en-US')} occurrences on ${database} in ${seconds} s`)
}

/** Hash of the migrations and the builder. */
function version() {
  const migrations = new URL('../../src/store/migrations/', import.meta.url)
  const files = readdirSync(migrations)
  const hash = createHash('sha256')
  for (const name of ['dataset.mjs', 'insight.mjs']) hash.update(readFileSync(new URL(name, import.meta.url)))
  for (const name of files.sort()) hash.update(readFileSync(new URL(name, migrations)))
  return hash.digest('hex').slice(0, 10)
}
