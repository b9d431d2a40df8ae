import { createServer } from 'node:http'
import { join } from 'node:path'
import express from 'express'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { capture } from '../../../src/adapters/express.js'
import type { ErrorSummary } from '../../../src/triage/queries/error-record.js'
import { describeOneDatabase } from '../../support/databases.js'
import { startListening } from '../../support/host.js'
import { eventually, freshTracker, temporaryFolder, trackerAt } from '../../support/tracker.js'

function createLogger() {
  const { tracker } = trackerAt({
    url: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`,
    spool_path: temporaryFolder(),
  })
  const log = async (exception: unknown) => (await tracker.Commands.LogError.call({ exception }))?.hash_signature
  return { tracker, log }
}

async function thrownBy(operation: () => unknown): Promise<unknown> {
  try {
    await operation()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describeOneDatabase('bugs in anonymous Express handlers', (database) => {
  test('records separate errors with their own message and location', async () => {
    const { tracker } = await freshTracker(database)
    const app = express()
    // biome-ignore-start lint/suspicious/noExplicitAny: the bugs under test.
    app.get('/users/:id', (_req, res) => {
      const user = undefined as any
      res.json(user.name)
    })
    app.post('/orders', async (_req, res) => {
      const order = undefined as any
      res.json(order.total)
    })
    app.get('/pay', (_req, res) => {
      const o = undefined as any
      res.json(o.amount)
    })
    app.get('/again', (_req, res) => {
      const o = undefined as any
      res.json(o.amount)
    })
    // biome-ignore-end lint/suspicious/noExplicitAny: the bugs under test.
    app.use(capture(tracker))
    app.use(((_error, _req, res, _next) => res.status(500).end()) as express.ErrorRequestHandler)
    const url = await startListening(createServer(app))
    for (const [method, path] of [
      ['GET', '/users/5'],
      ['POST', '/orders'],
      ['GET', '/pay'],
      ['GET', '/again'],
      ['GET', '/pay'],
    ])
      await fetch(`${url}${path}`, { method: method ?? 'GET' })
    let errors: readonly ErrorSummary[] = []
    await eventually(async () => {
      errors = await tracker.Queries.ErrorsList.call({})
      return errors.reduce((sum, { occurrence_count }) => sum + occurrence_count, 0) === 5
    }, 'five occurrences')
    expect(errors.map(({ message, occurrence_count }) => [message, occurrence_count]).sort()).toEqual([
      ["Cannot read properties of undefined (reading 'amount')", 1],
      ["Cannot read properties of undefined (reading 'amount')", 2],
      ["Cannot read properties of undefined (reading 'name')", 1],
      ["Cannot read properties of undefined (reading 'total')", 1],
    ])
    expect(new Set(errors.map(({ place }) => place)).size).toBe(4)
  })
})

describe('fetch failed', () => {
  const fetchUrl = (url: string) => fetch(url)

  test('groups fetch failures by type and code of the cause', async () => {
    const { log } = createLogger()
    const closedServer = createServer()
    const closed = await startListening(closedServer)
    await new Promise((closed) => closedServer.close(closed))
    const reset = await startListening(createServer((request) => request.socket.destroy()))
    const signatures = []
    for (const url of [closed, `${closed}/other`, reset])
      signatures.push(await log(await thrownBy(() => fetchUrl(url))))
    expect(signatures[1]).toBe(signatures[0])
    expect(signatures[2]).not.toBe(signatures[0])
  })

  test.each([
    [
      'Promise.any',
      () => Promise.any([Promise.reject(withCode('ECONNREFUSED')), Promise.reject(withCode('ETIMEDOUT'))]),
      () => Promise.any([Promise.reject(withCode('ENOTFOUND'))]),
    ],
    [
      'an AggregateError without a message',
      () => Promise.reject(new AggregateError([withCode('EHOSTUNREACH')])),
      () => Promise.reject(new AggregateError([withCode('ECONNREFUSED')])),
    ],
    [
      'a wrapped AggregateError',
      () =>
        Promise.reject(
          new TypeError('fetch failed', { cause: withoutFrames(new AggregateError([withCode('EHOSTUNREACH')])) }),
        ),
      () =>
        Promise.reject(
          new TypeError('fetch failed', { cause: withoutFrames(new AggregateError([withCode('ECONNREFUSED')])) }),
        ),
    ],
  ])('groups %s by type and code of the cause', async (_, first, second) => {
    const { log } = createLogger()
    const signature = await log(withoutFrames(await thrownBy(first)))
    expect(await log(withoutFrames(await thrownBy(first)))).toBe(signature)
    expect(await log(withoutFrames(await thrownBy(second)))).not.toBe(signature)
  })

  test('ignores the code of the cause if the error has its own message', async () => {
    const { log } = createLogger()
    const wrapped = (code: string) => withoutFrames(new Error('Checkout failed', { cause: withCode(code) }))
    expect(await log(wrapped('ECONNREFUSED'))).toBe(await log(wrapped('ETIMEDOUT')))
  })
})

describe('validation errors', () => {
  const User = z.object({ name: z.string(), age: z.number().min(18), tags: z.array(z.string()) })
  const parse = (input: unknown) => User.parse(input)

  test('groups validation errors of one schema and location', async () => {
    const { log } = createLogger()
    const inputs = [{}, { name: 5 }, { name: 'a', age: 3, tags: [1, 2] }, null, { name: 'a', age: 20, tags: 'x' }]
    const signatures = []
    for (const input of inputs) signatures.push(await log(await thrownBy(() => parse(input))))
    expect(new Set(signatures).size).toBe(1)
    expect(await log(await thrownBy(() => z.string().parse(5)))).not.toBe(signatures[0])
  })

  test.each(['ValidationError', 'ValiError', 'SequelizeValidationError', 'StructError', 'ZodError'])(
    'groups %s by type and location',
    async (name) => {
      const { log } = createLogger()
      const validationError = (message: string) => Object.assign(new Error(message), { name })
      const [first, second] = ['"email" is required', 'age must be at least 18'].map(validationError)
      expect(await log(first)).toBe(await log(second))
    },
  )
})

describe('error type', () => {
  test('uses the class name of a PostgreSQL error instead of its name "error"', async () => {
    const { tracker } = createLogger()
    const exception = new pg.DatabaseError('relation "users" does not exist', 5, 'error')
    expect(exception.name).toBe('error')
    expect(await tracker.Commands.LogError.call({ exception })).toMatchObject({ error_type: 'DatabaseError' })
    const wrapper = new Error('outer', { cause: exception })
    const logged = await tracker.Commands.LogError.call({ exception: wrapper })
    const { causes } = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(causes[0]).toMatchObject({ error_type: 'DatabaseError' })
  })

  test.each([
    [{ name: 'PaymentError', message: 'm', stack: 'PaymentError: m\n    at pay (/srv/a.js:1:1)' }, 'PaymentError'],
    [{ name: 'Error', message: 'm', stack: 'Error: m\n    at pay (/srv/a.js:1:1)' }, 'Error'],
    [{ name: 'PaymentError', message: 'm' }, 'Object'],
    [Object.assign(new Error('m'), { name: 'error' }), 'Error'],
  ])('converts the thrown value %j to the type %s', async (exception, error_type) => {
    const { tracker } = createLogger()
    expect(await tracker.Commands.LogError.call({ exception })).toMatchObject({ error_type })
  })
})

test('groups a stack overflow regardless of the frame where the stack ends', async () => {
  const { log } = createLogger()
  const lines = (...names: string[]) =>
    names.map((name) => `    at ${name} (/srv/shop/tree.js:${name.length}:1)`).join('\n')
  const overflow = (...names: string[]) =>
    Object.assign(new RangeError('Maximum call stack size exceeded'), {
      stack: `RangeError: Maximum call stack size exceeded\n${lines(...names)}`,
    })
  const signature = await log(overflow('a', 'b', 'a', 'b', 'a', 'b'))
  expect(await log(overflow('b', 'a', 'b', 'a', 'b', 'a'))).toBe(signature)
  expect(await log(overflow('helper', 'a', 'b', 'a', 'b', 'a'))).toBe(signature)
  expect(await log(overflow('c', 'd', 'c', 'd', 'c', 'd'))).not.toBe(signature)
  const three = await log(overflow('x', 'y', 'z', 'x', 'y', 'z', 'x', 'y'))
  expect(await log(overflow('z', 'x', 'y', 'z', 'x', 'y', 'z', 'x'))).toBe(three)
})

function withCode(code: string): Error {
  return withoutFrames(Object.assign(new Error(`connect ${code}`), { code }))
}

/** Removes the frames, so that the location does not affect the signature. */
function withoutFrames<T>(error: T): T {
  const { name, message } = error as Error
  return Object.assign(error as Error, { stack: `${name}: ${message}` }) as T
}
