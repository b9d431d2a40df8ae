import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import mysql from 'mysql2/promise'
import pg from 'pg'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TrackerInstance } from '../../../src/tracker.js'
import { type ErrorSample, type SampleCause, SEVERITY_TABLE } from '../../model/severity/severity-table.js'
import { CREDENTIALS } from '../../support/tracker.js'

let tracker: TrackerInstance

beforeAll(() => {
  const settings = {
    database: 'sqlite::memory:',
    spool_path: mkdtempSync(join(tmpdir(), 'faultboard-')),
    ...CREDENTIALS,
  }
  tracker = new TrackerInstance(settings, { env: {}, write: () => {} }).start()
})
afterAll(async () => {
  const { spool_path } = tracker.config
  await tracker.shutdown()
  rmSync(String(spool_path), { recursive: true, force: true })
})

const severityOf = async (exception: unknown) => (await tracker.Commands.LogError.call({ exception }))?.severity

describe('the table of error kinds', () => {
  test('has at least 110 kinds, each of them once', () => {
    expect(SEVERITY_TABLE.length).toBeGreaterThanOrEqual(110)
    const keys = SEVERITY_TABLE.map(({ source, when, error_type }) => `${source} ${when} ${error_type}`)
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([])
  })

  test.each(SEVERITY_TABLE)('grades $error_type ($source: $when) as $severity', async (kind) => {
    expect(await severityOf(created(kind))).toBe(kind.severity)
  })
})

describe('errors of the real packages', () => {
  test('a connection that pg-pool cannot open is critical', async () => {
    const pool = new pg.Pool({ host: '127.0.0.1', port: await closedPort() })
    expect(await severityOf(await failureOf(pool.query('select 1')))).toBe('critical')
    await pool.end()
  })

  test('a pool of pg without a free connection is critical', async () => {
    const server = createServer()
    const pool = new pg.Pool({ host: '127.0.0.1', port: await listening(server), connectionTimeoutMillis: 20 })
    const error = await failureOf(pool.query('select 1'))
    expect((error as Error).message).toMatch(/timeout/)
    expect(await severityOf(error)).toBe('critical')
    server.close()
  })

  test('a connection that pg loses is critical', async () => {
    const server = createServer((socket) => socket.destroy())
    const client = new pg.Client({ host: '127.0.0.1', port: await listening(server) })
    client.on('error', () => {})
    const error = await failureOf(client.connect())
    expect((error as Error).message).toMatch(/Connection terminated unexpectedly|ECONNRESET/)
    expect(await severityOf(error)).toBe('critical')
    server.close()
  })

  test('a connection that mysql2 cannot open is critical', async () => {
    const port = await closedPort()
    expect(await severityOf(await failureOf(mysql.createConnection({ host: '127.0.0.1', port })))).toBe('critical')
  })

  test('a server that ioredis cannot reach is critical', async () => {
    const port = await closedPort()
    const redis = new Redis({ port, maxRetriesPerRequest: 1, retryStrategy: () => 1 })
    redis.on('error', () => {})
    expect(await severityOf(await failureOf(redis.get('key')))).toBe('critical')
    redis.disconnect()
    expect(await severityOf(await failureOf(redis.get('key')))).toBe('critical')
  })

  test('fetch is medium where its connection fails, and high where its URL is wrong', async () => {
    const port = await closedPort()
    expect(await severityOf(await failureOf(fetch(`http://127.0.0.1:${port}/`)))).toBe('medium')
    expect(await severityOf(await failureOf(fetch('http://nowhere.invalid/')))).toBe('medium')
    expect(await severityOf(await failureOf(fetch('unknown://host/')))).toBe('high')
    expect(await severityOf(await failureOf(fetch('no url')))).toBe('high')
  })

  test('Promise.any of refused connections is medium', async () => {
    const port = await closedPort()
    const error = await failureOf(Promise.any([fetch(`http://127.0.0.1:${port}/`), fetch(`http://localhost:${port}/`)]))
    expect(await severityOf(error)).toBe('medium')
  })

  test('a value that Valibot refuses is medium', async () => {
    const error = await failureOf(v.parseAsync(v.object({ email: v.string() }), {}))
    expect(await severityOf(error)).toBe('medium')
  })
})

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.unreachable('it was to fail'),
    (error: unknown) => error,
  )
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listening(server)
  await new Promise((done) => server.close(done))
  return port
}

/** An error with the name, code, message and stack of the kind. */
function created(kind: ErrorSample | SampleCause): Error {
  const { error_type, message, code, frame = 'src/orders.js' } = kind
  const { fatal, cause, errors } = kind as ErrorSample
  const error = new Error(message, cause ? { cause: created(cause) } : undefined)
  Object.defineProperty(error, 'name', { value: error_type })
  Object.assign(error, code !== undefined && { code }, fatal && { fatal }, errors && { errors: errors.map(created) })
  const first = frame.startsWith('node:') ? frame : `/srv/app/${frame}`
  error.stack = `${error_type}: ${message}\n    at fail (${first}:120:9)\n    at handler (/srv/app/src/server.js:14:3)`
  return error
}
