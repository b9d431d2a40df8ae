import { createPool } from 'mysql2'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { openSqlite } from '../write/connections.mjs'

/** Statements of a visit: text, values and, on SQLite, the milliseconds that they blocked the thread. */
export const trace = { statements: [] }

/** SQLite handle whose class the tracker uses to reopen the file. Records every statement. */
export async function tracedSqlite(file) {
  const plain = await openSqlite(file)
  class TracedDatabase extends plain.constructor {
    prepare(sql) {
      const statement = super.prepare(sql)
      const traced =
        (method) =>
        (...values) => {
          const started = performance.now()
          const result = statement[method](...values)
          trace.statements.push({ sql, values, ms: performance.now() - started })
          return result
        }
      return { all: traced('all'), get: traced('get'), run: traced('run'), columns: () => statement.columns() }
    }
  }
  plain.close()
  return new TracedDatabase(file)
}

/** PostgreSQL pool that records every statement. */
export function tracedPostgres(url) {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  return {
    get totalCount() {
      return pool.totalCount
    },
    async connect() {
      const client = await pool.connect()
      return {
        async query(sql, values) {
          trace.statements.push({ sql, values, ms: null })
          return client.query(sql, values)
        },
        on: (...listener) => client.on(...listener),
        off: (...listener) => client.off(...listener),
        release: () => client.release(),
      }
    },
    end: () => pool.end(),
  }
}

/** MariaDB pool that records every statement. */
export function tracedMysql(url) {
  const pool = createPool({ uri: url, connectionLimit: 4, supportBigNumbers: true })
  return {
    getConnection(callback) {
      pool.getConnection((error, connection) => {
        if (error) return callback(error)
        callback(null, {
          query(sql, values, done) {
            trace.statements.push({ sql, values, ms: null })
            return connection.query(sql, values, done)
          },
          ping: (done) => connection.ping(done),
          release: () => connection.release(),
          stream: connection.stream,
        })
      })
    },
    end: () => pool.promise().end(),
  }
}

const TRANSACTION_CONTROL = /^(?:set transaction|set session|start transaction|begin|commit|rollback)\b/i

/** Replays recorded statements with the bare driver. */
export const REPLAY = {
  async sqlite(file) {
    const db = await openSqlite(file)
    const prepared = new Map()
    return {
      run(statements) {
        for (const { sql, values } of statements) {
          if (!prepared.has(sql)) prepared.set(sql, db.prepare(sql))
          prepared.get(sql).all(...values)
        }
      },
      close: () => db.close(),
    }
  },
  async postgres(url) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    return {
      async run(statements) {
        for (const { sql, values } of statements) await client.query(sql, values)
      },
      close: () => client.end(),
    }
  },
  async mysql(url) {
    const connection = await createConnection({ uri: url, supportBigNumbers: true })
    return {
      async run(statements) {
        // One connection replays the statements of several connections, whose transactions overlap.
        for (const { sql, values } of statements.filter(({ sql }) => !TRANSACTION_CONTROL.test(sql))) {
          await connection.query(sql, values)
        }
      },
      close: () => connection.end(),
    }
  },
}
