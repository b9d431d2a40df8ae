import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { afterAll, describe } from 'vitest'

export type Dialect = 'sqlite' | 'postgres' | 'mysql'

export interface TestDatabase {
  readonly dialect: Dialect
  /** The URL of a new, empty database, removed when the describe block is done. */
  fresh(): Promise<string>
}

/**
 * The same tests once for every database that DATABASES selects (all by default).
 *
 * @example
 * describeEachDatabase('storing an occurrence', (database) => {
 *   test('counts it', async () => {
 *     const url = await database.fresh()
 *   })
 * })
 */
export function describeEachDatabase(
  title: string,
  body: (database: TestDatabase) => void,
  { except = [] }: { except?: readonly Dialect[] } = {},
): void {
  const dialects = selectedDialects().filter((one) => !except.includes(one))
  // A file in which no test stands at all is a failure to vitest.
  if (dialects.length === 0) {
    describe.skip(`${title} (skipped: its databases are not selected)`, () =>
      body({ dialect: 'postgres', fresh: skipped }))
  }
  for (const dialect of dialects) {
    const variable = serverVariable[dialect]
    if (variable && !process.env[variable]) {
      describe.skip(`${title} on ${dialect} (skipped: ${variable} is not set)`, () => body({ dialect, fresh: skipped }))
      continue
    }
    describe(`${title} on ${dialect}`, () => {
      const removals: (() => Promise<void>)[] = []
      // Registered before the body's own hooks, therefore run after them.
      afterAll(async () => {
        for (const remove of removals) await remove()
      })
      body({
        dialect,
        async fresh() {
          const { url, remove } = await create[dialect](process.env[variable ?? ''] ?? '')
          removals.push(remove)
          return url
        },
      })
    })
  }
}

interface Created {
  readonly url: string
  remove(): Promise<void>
}

const serverVariable: Record<Dialect, string | undefined> = {
  sqlite: undefined,
  postgres: 'FAULTBOARD_TEST_POSTGRES',
  mysql: 'FAULTBOARD_TEST_MYSQL',
}

const create: Record<Dialect, (server: string) => Promise<Created>> = {
  sqlite: createSqlite,
  postgres: createPostgres,
  mysql: createMysql,
}

function selectedDialects(): Dialect[] {
  const all = Object.keys(create) as Dialect[]
  const names = process.env.DATABASES?.split(',').filter(Boolean) ?? []
  const unknown = names.filter((name) => !all.some((dialect) => dialect === name))
  if (unknown.length > 0) throw new Error(`DATABASES knows ${all.join(', ')}, but not ${unknown.join(', ')}`)
  return names.length === 0 ? all : all.filter((dialect) => names.includes(dialect))
}

async function createSqlite(): Promise<Created> {
  const folder = await mkdtemp(join(tmpdir(), 'faultboard-sqlite-'))
  return {
    url: `sqlite:${join(folder, 'test.sqlite3')}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function createPostgres(server: string): Promise<Created> {
  const name = randomName()
  await postgres(server, `CREATE DATABASE ${name}`)
  return {
    url: withDatabase(server, name),
    remove: () => postgres(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

async function postgres(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function createMysql(server: string): Promise<Created> {
  const name = randomName()
  await mysql(server, async (query) => {
    await query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
  })
  return {
    url: withDatabase(server, name),
    remove: () => mysql(server, (query) => dropMysql(query, name)),
  }
}

// A connection that a test forgot would hold its locks and let the DROP wait.
async function dropMysql(query: MysqlQuery, name: string): Promise<void> {
  const connections = await query(`SELECT id FROM information_schema.processlist WHERE db = '${name}'`)
  for (const { id } of connections) await query(`KILL ${id}`).catch(ignoreGone)
  await query(`DROP DATABASE IF EXISTS ${name}`)
}

type MysqlQuery = (statement: string) => Promise<Record<string, unknown>[]>

async function mysql(server: string, work: (query: MysqlQuery) => Promise<void>): Promise<void> {
  const connection = await createConnection(server)
  try {
    await work(async (statement) => (await connection.query(statement))[0] as Record<string, unknown>[])
  } finally {
    await connection.end()
  }
}

function ignoreGone(error: { code?: string }): void {
  if (error.code !== 'ER_NO_SUCH_THREAD') throw error
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

function randomName(): string {
  return `faultboard_test_${randomBytes(8).toString('hex')}`
}

function skipped(): Promise<string> {
  throw new Error('a skipped database was used outside of a test or hook')
}
