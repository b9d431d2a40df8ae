import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { createDatabase } from '../../dist/store/database.js'
import { migrate } from '../../dist/store/migrate.js'

/** Creates a database with the schema. `server` is the URL of a running server, or null for SQLite. */
export async function freshDatabase(dialect, server) {
  const created = await CREATE[dialect](server)
  await migrateUrl(created.url)
  return created
}

export async function migrateUrl(url) {
  const database = createDatabase(url, process.cwd())
  await migrate(database)
  await database.close()
}

const CREATE = {
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'faultboard-bench-'))
    return {
      url: `sqlite:${join(folder, 'errors.sqlite3')}`,
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  },
  async postgres(server) {
    const name = randomName()
    await postgres(server, `create database ${name}`)
    return {
      url: withDatabase(server, name),
      remove: () => postgres(server, `drop database if exists ${name} with (force)`),
    }
  },
  async mysql(server) {
    const name = randomName()
    await mysql(server, `create database ${name} character set utf8mb4`)
    return { url: withDatabase(server, name), remove: () => mysql(server, `drop database if exists ${name}`) }
  },
}

async function postgres(server, statement) {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

async function mysql(server, statement) {
  const connection = await createConnection(server)
  await connection.query(statement).finally(() => connection.end())
}

function withDatabase(server, name) {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

function randomName() {
  return `bench_${randomBytes(6).toString('hex')}`
}
