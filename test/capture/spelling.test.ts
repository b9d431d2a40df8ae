import { channel } from 'node:diagnostics_channel'
import { expect, test } from 'vitest'
import { type LogErrorInput, readFields } from '../../src/capture/fields.js'
import { camelCase } from '../../src/model/input/spelling.js'
import type { ReportOptions } from '../../src/tracker.js'
import { describeOneDatabase } from '../support/databases.js'
import { freshTracker } from '../support/tracker.js'

/** A value of every field. The type requires each one, so that a new field is covered. */
const FIELDS: Required<{ [Name in keyof LogErrorInput]: LogErrorInput[Name] }> = {
  exception: new Error('x'),
  error_type: 'CartError',
  message: 'Empty',
  backtrace: ['at cart.js:1'],
  occurred_at: 1_700_000_000_000,
  platform: 'iOS',
  environment: 'staging',
  app_version: '2.1.0',
  git_sha: 'abc1234',
  user_id: 7,
  request_url: '/cart',
  request_params: { orderId: 1 },
  ip_address: '192.0.2.1',
  user_agent: 'Shop/2.1',
  severity: 'high',
  request: { method: 'GET' },
  tags: { regionName: 'eu' },
  context: { orderId: 1 },
  unhandled: true,
  request_failed: true,
  trace_id: 'a'.repeat(32),
  span_id: 'b'.repeat(16),
  source: 'test',
}
const CAMEL_CASED = Object.fromEntries(Object.entries(FIELDS).map(([name, value]) => [camelCase(name), value]))

class Input {
  constructor(fields: object) {
    Object.assign(this, fields)
  }
}

test('reads every field in both spellings', () => {
  expect(readFields(FIELDS)).toEqual(FIELDS)
  expect(readFields(CAMEL_CASED)).toEqual(FIELDS)
  expect(readFields(new Input(CAMEL_CASED))).toEqual(FIELDS)
  expect(readFields(new Proxy(CAMEL_CASED, {}))).toEqual(FIELDS)
})

test.each([
  { user_id: 1, userId: 2 },
  { userId: 2, user_id: 1 },
  { userId: 1, user_id: undefined },
  { user_id: undefined, userId: 1 },
  { user_id: 1, userId: undefined },
])('prefers a value in snake_case: %o', (fields) => {
  expect(readFields(fields)).toEqual({ user_id: 1 })
  expect(readFields(new Input(fields))).toEqual({ user_id: 1 })
})

describeOneDatabase('misspelled names', (database) => {
  test('misspelled fields are logged once, and the error is recorded', async () => {
    const { tracker, lines } = await freshTracker(database)
    const details = { usr_id: 7, handled: true, 'own\n[faultboard] data': 1 } as ReportOptions
    await tracker.report(new Error('first'), details)
    await tracker.report(new Error('second'), details)
    await tracker.Commands.LogError.call({ error_type: 'A', mesage: 'x', usr_id: 7 } as LogErrorInput)
    channel('faultboard:report').publish({ error: new Error('third'), handled: true, severty: 'low' })
    await tracker.flush()
    expect(lines).toEqual([
      '[faultboard] usr_id is not a field of Tracker.report and was ignored; did you mean user_id?\n',
      '[faultboard] "own\\n[faultboard] data" is not a field of Tracker.report and was ignored; use context for your own data\n',
      '[faultboard] mesage is not a field of LogError and was ignored; did you mean message?\n',
      '[faultboard] severty is not a field of faultboard:report and was ignored; did you mean severity?\n',
    ])
    expect(await tracker.Queries.ErrorsList.call()).toHaveLength(4)
  })

  test('a host that passes arbitrary objects does not fill the log', async () => {
    const { tracker, lines } = await freshTracker(database)
    const arbitrary = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`own_${i}`, i]))
    await tracker.report(new Error('first'), arbitrary)
    expect(lines).toHaveLength(100)
  })

  test('misspelled arguments of operations are an error', async () => {
    const { tracker } = await freshTracker(database)
    const filter = { sevrity: 'high', per_page: 5 } as object
    await expect(tracker.Queries.ErrorsList.call(filter)).rejects.toThrow(
      'sevrity is not an argument; did you mean severity?',
    )
    await expect(tracker.Queries.Applications.call({ page: 1 } as object)).rejects.toThrow('page is not an argument')
    expect(() => new tracker.Queries.ErrorCorrelation({ dayz: 3 } as object)).toThrow('did you mean days?')
  })
})

describeOneDatabase('camelCase', (database) => {
  test('Tracker.report, LogError and the channel record fields in camelCase and keep the keys of the host', async () => {
    const { tracker } = await freshTracker(database)
    const details = {
      userId: 7,
      appVersion: '2.1.0',
      requestUrl: '/cart',
      tags: { regionName: 'eu' },
      context: { orderId: 12 },
      request: { method: 'GET', contentType: 'text/plain', durationMs: 3, headers: { durationMs: '1' } },
    }
    await tracker.report(new Error('reported'), details)
    await tracker.Commands.LogError.call({ errorType: 'Logged', message: 'logged', ...details })
    channel('faultboard:report').publish({ error: new Error('published'), ...details })
    await tracker.flush()
    const errors = await tracker.Queries.ErrorsList.call({ appVersion: '2.1.0', sortBy: 'occurred_at' })
    expect(errors.map(({ message }) => message).sort()).toEqual(['logged', 'published', 'reported'])
    for (const { id } of errors) {
      expect(await tracker.Queries.FindError.call({ errorId: id })).toMatchObject({
        user_id: '7',
        request_url: '/cart',
        tags: { regionName: 'eu' },
        context: { orderId: 12 },
        request: { method: 'GET', content_type: 'text/plain', duration_ms: 3, headers: { durationMs: '1' } },
      })
    }
  })

  test('breadcrumbs and request-guard events accept camelCase', async () => {
    const settings = { enable_breadcrumbs: true, enable_request_guard_tracking: true, max_event_loop_lag_ms: null }
    const { tracker } = await freshTracker(database, settings)
    tracker.addBreadcrumb({ category: 'cart', message: 'direct', durationMs: 5 })
    channel('faultboard:breadcrumb').publish({ category: 'cart', message: 'published', durationMs: 6 })
    tracker.requestGuard.record({ kind: 'throttle', rule: 'sign-in', ipAddress: '192.0.2.1' })
    const logged = await tracker.report(new Error('x'))
    const { breadcrumbs } = await tracker.Queries.FindError.call({ errorId: logged?.id ?? 0 })
    expect(breadcrumbs).toMatchObject([
      { message: 'direct', duration_ms: 5 },
      { message: 'published', duration_ms: 6 },
      { category: 'request_guard' },
    ])
    await tracker.flush()
    const { by_address } = await tracker.Queries.RequestGuardSummary.call({})
    expect(by_address).toMatchObject([{ ip_address: '192.0.2.1' }])
  })
})
