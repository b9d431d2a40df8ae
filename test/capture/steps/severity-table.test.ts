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

const recordedSeverity = async (exception: unknown) => (await tracker.Commands.LogError.call({ exception }))?.severity

describe('severity table', () => {
  test('contains at least 110 distinct errors', () => {
    expect(SEVERITY_TABLE.length).toBeGreaterThanOrEqual(110)
    const keys = SEVERITY_TABLE.map(({ source, when, error_type }) => `${source} ${when} ${error_type}`)
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([])
  })

  test.each(SEVERITY_TABLE)('grades $error_type ($source: $when) as $severity', async (sample) => {
    expect(await recordedSeverity(createError(sample))).toBe(sample.severity)
  })
})

describe('errors of installed packages', () => {
  test('grades a connection that pg-pool cannot open as critical', async () => {
    const pool = new pg.Pool({ host: '127.0.0.1', port: await closedPort() })
    expect(await recordedSeverity(await rejectionReason(pool.query('select 1')))).toBe('critical')
    await pool.end()
  })

  test('grades an exhausted pg pool as critical', async () => {
    const server = createServer()
    const pool = new pg.Pool({ host: '127.0.0.1', port: await startListening(server), connectionTimeoutMillis: 20 })
    const error = await rejectionReason(pool.query('select 1'))
    expect((error as Error).message).toMatch(/timeout/)
    expect(await recordedSeverity(error)).toBe('critical')
    server.close()
  })

  test('grades a connection that pg loses as critical', async () => {
    const server = createServer((socket) => socket.destroy())
    const client = new pg.Client({ host: '127.0.0.1', port: await startListening(server) })
    client.on('error', () => {})
    const error = await rejectionReason(client.connect())
    expect((error as Error).message).toMatch(/Connection terminated unexpectedly|ECONNRESET/)
    expect(await recordedSeverity(error)).toBe('critical')
    server.close()
  })

  test('grades a connection that mysql2 cannot open as critical', async () => {
    const port = await closedPort()
    expect(await recordedSeverity(await rejectionReason(mysql.createConnection({ host: '127.0.0.1', port })))).toBe(
      'critical',
    )
  })

  test('grades a server that ioredis cannot reach as critical', async () => {
    const port = await closedPort()
    const redis = new Redis({ port, maxRetriesPerRequest: 1, retryStrategy: () => 1 })
    redis.on('error', () => {})
    expect(await recordedSeverity(await rejectionReason(redis.get('key')))).toBe('critical')
    redis.disconnect()
    expect(await recordedSeverity(await rejectionReason(redis.get('key')))).toBe('critical')
  })

  test('grades a failed fetch connection as medium and an invalid URL as high', async () => {
    const port = await closedPort()
    expect(await recordedSeverity(await rejectionReason(fetch(`http://127.0.0.1:${port}/`)))).toBe('medium')
    expect(await recordedSeverity(await rejectionReason(fetch('http://nowhere.invalid/')))).toBe('medium')
    expect(await recordedSeverity(await rejectionReason(fetch('unknown://host/')))).toBe('high')
    expect(await recordedSeverity(await rejectionReason(fetch('no url')))).toBe('high')
  })

  test('grades Promise.any of refused connections as medium', async () => {
    const port = await closedPort()
    const error = await rejectionReason(
      Promise.any([fetch(`http://127.0.0.1:${port}/`), fetch(`http://localhost:${port}/`)]),
    )
    expect(await recordedSeverity(error)).toBe('medium')
  })

  test('grades a value that Valibot rejects as medium', async () => {
    const error = await rejectionReason(v.parseAsync(v.object({ email: v.string() }), {}))
    expect(await recordedSeverity(error)).toBe('medium')
  })
})

async function rejectionReason(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable('expected a rejection'),
    (error: unknown) => error,
  )
}

async function startListening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await startListening(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Creates an error with the name, code, message and stack of the sample. */
function createError(sample: ErrorSample | SampleCause): Error {
  const { error_type, message, code, frame = 'src/orders.js' } = sample
  const { fatal, cause, errors } = sample as ErrorSample
  const error = new Error(message, cause ? { cause: createError(cause) } : undefined)
  Object.defineProperty(error, 'name', { value: error_type })
  Object.assign(
    error,
    code !== undefined && { code },
    fatal && { fatal },
    errors && { errors: errors.map(createError) },
  )
  const fileName = frame.startsWith('node:') ? frame : `/srv/app/${frame}`
  error.stack = `${error_type}: ${message}\n    at fail (${fileName}:120:9)\n    at handler (/srv/app/src/server.js:14:3)`
  return error
}
