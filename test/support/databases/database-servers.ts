import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { mysqlRenewal, type Pristine, postgresRenewal, type Query } from '../renewal.js'

export type Dialect = 'sqlite' | 'postgres' | 'mysql'

export interface CreatedDatabase {
  readonly url: string
  remove(): Promise<void>
}

/** State of a new database. All databases created from the template share it. */
const pristine = new Map<Dialect, Promise<Pristine>>()

export interface DatabaseServer {
  /** Environment variable with the URL of the server. Undefined if the dialect needs no server. */
  readonly variable?: string
  /** Creates a database for a test run, either empty or from a template. */
  create(run: string, template?: string): Promise<CreatedDatabase>
  /** Turns a database into a template for `create`. The database must have no connections. */
  createTemplate(url: string): Promise<string>
  /** Resets a database created from a template. Returns false if that is impossible. Undefined if creating is cheap. */
  reset?(url: string): Promise<boolean>
  /** Removes the databases of a test run that its processes kept for reuse. */
  removeAll?(run: string): Promise<void>
}

const sqlite: DatabaseServer = {
  async create(_run, template) {
    const folder = await mkdtemp(join(process.env.FAULTBOARD_TEST_MEMORY || tmpdir(), 'faultboard-sqlite-'))
    const file = join(folder, 'test.sqlite3')
    if (template) await copyFile(template, file)
    return { url: `sqlite:${file}`, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) }
  },
  createTemplate: async (url) => url.slice('sqlite:'.length),
}

const postgres: DatabaseServer = {
  variable: 'FAULTBOARD_TEST_POSTGRES',
  async create(run, template) {
    const name = databasePrefix(run) + randomBytes(6).toString('hex')
    await withPostgres(serverUrl(postgres), (query) =>
      query(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template}` : ''}`),
    )
    const url = databaseUrl(postgres, name)
    if (template) await rememberPristineState('postgres', () => withPostgres(url, postgresRenewal.pristine))
    return {
      url,
      remove: () => withPostgres(serverUrl(postgres), (query) => dropPostgres(query, name)),
    }
  },
  createTemplate: async (url) => databaseName(url),
  reset: (url) => withPostgres(url, async (query) => postgresRenewal.renew(query, await pristineState('postgres'))),
  removeAll: (run) =>
    withPostgres(serverUrl(postgres), async (query) => {
      const names = await query(`SELECT datname AS name FROM pg_database WHERE datname LIKE '${databasePrefix(run)}%'`)
      for (const { name } of names) await dropPostgres(query, String(name))
    }),
}

const mysql: DatabaseServer = {
  variable: 'FAULTBOARD_TEST_MYSQL',
  async create(run, template) {
    const name = databasePrefix(run) + randomBytes(6).toString('hex')
    await withMysql(async (query) => {
      await query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
      if (template) await query(`USE ${name}; ${template}`)
    })
    const url = databaseUrl(mysql, name)
    if (template) await rememberPristineState('mysql', () => withMysql(mysqlRenewal.pristine, url))
    return { url, remove: () => withMysql((query) => dropMysql(query, name)) }
  },
  // MySQL cannot copy a database, but creating all tables at once is much faster than running the migrations.
  createTemplate: (url) =>
    withMysql(async (query) => {
      const from = databaseName(url)
      const statements = ['SET foreign_key_checks = 0']
      for (const { name } of await query(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${from}'`,
      )) {
        const [table] = await query(`SHOW CREATE TABLE ${from}.${name}`)
        const [row] = await query(`SELECT 1 FROM ${from}.${name} LIMIT 1`)
        statements.push(String(table?.['Create Table']))
        if (row) statements.push(`INSERT INTO ${name} SELECT * FROM ${from}.${name}`)
      }
      return statements.join(';\n')
    }),
  reset: (url) => withMysql(async (query) => mysqlRenewal.renew(query, await pristineState('mysql')), url),
  removeAll: (run) =>
    withMysql(async (query) => {
      for (const { name } of await query(
        `SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE '${databasePrefix(run)}%'`,
      )) {
        await dropMysql(query, String(name))
      }
    }),
}

export const SERVERS: Record<Dialect, DatabaseServer> = { sqlite, postgres, mysql }

/** Dialects selected by the DATABASES variable, all by default. */
export function selectedDialects(): Dialect[] {
  const all = Object.keys(SERVERS) as Dialect[]
  const names = process.env.DATABASES?.split(',').filter(Boolean) ?? []
  const unknown = names.filter((name) => !all.some((dialect) => dialect === name))
  if (unknown.length > 0) throw new Error(`DATABASES must contain ${all.join(', ')}, not ${unknown.join(', ')}`)
  return names.length === 0 ? all : all.filter((dialect) => names.includes(dialect))
}

async function rememberPristineState(dialect: Dialect, readState: () => Promise<Pristine>): Promise<void> {
  if (!pristine.has(dialect)) pristine.set(dialect, readState())
  await pristine.get(dialect)
}

async function pristineState(dialect: Dialect): Promise<Pristine> {
  return (await pristine.get(dialect)) ?? { seeded: [], fingerprint: 'none' }
}

async function withPostgres<T>(url: string, work: (query: Query) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(async (statement) => (await client.query(statement)).rows)
  } finally {
    await client.end()
  }
}

async function dropPostgres(query: Query, name: string): Promise<void> {
  await query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

// A leaked connection would hold locks and block the DROP.
async function dropMysql(query: Query, name: string): Promise<void> {
  const connections = await query(`SELECT id FROM information_schema.processlist WHERE db = '${name}'`)
  for (const { id } of connections) await query(`KILL ${id}`).catch(ignoreMissingThread)
  await query(`DROP DATABASE IF EXISTS ${name}`)
}

async function withMysql<T>(work: (query: Query) => Promise<T>, url = serverUrl(mysql)): Promise<T> {
  const connection = await createConnection({ uri: url, multipleStatements: true })
  try {
    return await work(async (statement) => (await connection.query(statement))[0] as Record<string, unknown>[])
  } finally {
    await connection.end()
  }
}

function ignoreMissingThread(error: { code?: string }): void {
  if (error.code !== 'ER_NO_SUCH_THREAD') throw error
}

function serverUrl({ variable }: DatabaseServer): string {
  return process.env[variable ?? ''] ?? ''
}

function databaseUrl(server: DatabaseServer, name: string): string {
  const url = new URL(serverUrl(server))
  url.pathname = `/${name}`
  return url.href
}

function databaseName(url: string): string {
  return new URL(url).pathname.slice(1)
}

function databasePrefix(run: string): string {
  return `faultboard_test_${run}_`
}
