import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { TrackerInstance } from '../../../src/tracker.js'
import { CREDENTIALS, NOON, temporaryFolder } from '../../support/tracker.js'

function createTracker(settings: Settings, random: () => number = () => 0.5) {
  const lines: string[] = []
  const instance = new TrackerInstance(
    {
      database: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`,
      application_name: 'shop',
      ...CREDENTIALS,
      ...settings,
    },
    { now: () => NOON, random, env: {}, write: (line) => lines.push(line) },
  )
  onTestFinished(() => instance.shutdown())
  const log = instance.Commands.LogError.call
  const dropped = async () => (await instance.stats()).dropped
  return { instance, log, lines, dropped }
}

class NotFound extends Error {}
class UserNotFound extends NotFound {}

describe('ignored_exceptions', () => {
  test('ignores errors by type name, RegExp and class with subclasses', async () => {
    const { log, dropped } = createTracker({ ignored_exceptions: ['AbortError', /^Rate/g, NotFound] })
    const abort = Object.assign(new Error('x'), { name: 'AbortError' })
    expect(await log({ exception: abort })).toBeNull()
    expect(await log({ error_type: 'RateLimited', message: 'x' })).toBeNull()
    expect(await log({ error_type: 'RateLimited', message: 'x' })).toBeNull()
    expect(await log({ exception: new NotFound('x') })).toBeNull()
    expect(await log({ exception: new UserNotFound('x') })).toBeNull()
    expect(await log({ error_type: 'AbortErrorish', message: 'x' })).toMatchObject({ state: 'recorded' })
    expect(await log({ exception: new Error('x') })).toMatchObject({ state: 'recorded' })
    expect(await dropped()).toEqual({ ignored: 5 })
  })

  test('records the error if a matcher throws', async () => {
    class Hostile extends Error {
      static override [Symbol.hasInstance](): boolean {
        throw new Error('no')
      }
    }
    const { log, dropped } = createTracker({ ignored_exceptions: [Hostile] })
    expect(await log({ exception: new Error('x') })).toMatchObject({ state: 'recorded' })
    expect(await dropped()).toEqual({ 'failed: ignored_exceptions': 1 })
  })
})

describe('before_log_callback', () => {
  test('passes the original exception and a context to before_log_callback', async () => {
    const before_log_callback = vi.fn(() => true)
    const { log } = createTracker({ before_log_callback })
    const exception = new TypeError('x')
    await log({ exception, user_id: 5, platform: 'web', request_url: '/cart', app_version: '1' })
    expect(before_log_callback).toHaveBeenCalledExactlyOnceWith(exception, {
      error_type: 'TypeError',
      message: 'x',
      platform: 'Web',
      user_id: '5',
      request_url: '/cart',
      app_version: '1',
      severity: 'high',
    })
    expect((before_log_callback.mock.calls[0] as unknown[])[0]).toBe(exception)
  })

  test.each([
    [true, true],
    [undefined, true],
    [null, true],
    [0, true],
    ['', true],
    [false, false],
  ])('after before_log_callback returns %s, the error is recorded: %s', async (result, isLogged) => {
    const { log, dropped } = createTracker({ before_log_callback: () => result as boolean })
    expect((await log({ exception: new Error('x') })) !== null).toBe(isLogged)
    expect(await dropped()).toEqual(isLogged ? {} : { skipped_by_callback: 1 })
  })

  test('records the error if before_log_callback throws, and redacts its message in the log', async () => {
    const throwError = () => {
      throw new Error('broken, password=hunter2')
    }
    const { log, dropped, lines } = createTracker({ before_log_callback: throwError })
    expect(await log({ exception: new Error('x') })).toMatchObject({ state: 'recorded' })
    expect(await dropped()).toEqual({ 'failed: before_log_callback': 1 })
    expect(lines.join()).toContain('before_log_callback failed: broken, password=[FILTERED]')
  })

  test.each([
    ['a revoked Proxy', () => revokedProxy()],
    ['an object without a prototype', () => Object.create(null)],
    ['a Symbol', () => Symbol('x')],
    ['nothing', () => undefined],
  ])('records the error if before_log_callback throws %s', async (_, createThrown) => {
    const throwError = () => {
      throw createThrown()
    }
    const { log, dropped } = createTracker({ before_log_callback: throwError, custom_fingerprint: throwError })
    expect(await log({ exception: new Error('x') })).toMatchObject({ state: 'recorded' })
    expect(await dropped()).toEqual({ 'failed: before_log_callback': 1, 'failed: custom_fingerprint': 1 })
  })

  test.each([
    ['the error', (error: unknown) => void deepFreeze(error)],
    ['the context', (_error: unknown, context: object) => void deepFreeze(context)],
    ['both', (...values: unknown[]) => values.forEach((value) => void deepFreeze(value))],
  ])('records the error once if before_log_callback freezes %s', async (_, freeze) => {
    const { instance, lines, dropped } = createTracker({ before_log_callback: freeze as never })
    instance.start()
    const cause = Object.assign(new Error('inner'), { details: { list: [1, { two: 2 }] } })
    const error = Object.assign(new TypeError('outer', { cause }), { status: 500, tags: { area: 'cart' } })
    const context = { cart: { items: [{ id: 1 }] } }
    expect(await instance.report(error, { context })).toMatchObject({ state: 'recorded', occurrence_count: 1 })
    expect(await instance.report(error, { context })).toBeNull()
    const [{ id = 0, ...listed } = {}] = await instance.Queries.ErrorsList.call()
    expect(listed).toMatchObject({ error_type: 'TypeError', message: 'outer', occurrence_count: 1 })
    const { causes, occurrences } = await instance.Queries.FindError.call({ error_id: id })
    expect(causes).toMatchObject([{ error_type: 'Error', message: 'inner' }])
    expect(occurrences).toMatchObject([{ context: { cart: { items: [{ id: 1 }] } } }])
    expect(await dropped()).toEqual({})
    expect(lines).toEqual([])
  })

  test('records the error if before_log_callback is asynchronous, and handles its rejection', async () => {
    const { log, lines } = createTracker({
      before_log_callback: (async () => Promise.reject(new Error('late'))) as never,
    })
    expect(await log({ exception: new Error('x') })).toMatchObject({ state: 'recorded' })
    expect(lines.join()).toContain('must be synchronous')
    expect(lines.join()).toContain('before_log_callback failed: late')
  })
})

describe('sampling_rate', () => {
  test.each([
    [1, 0.999, true],
    [0.5, 0.499, true],
    [0.5, 0.5, false],
    [0, 0, false],
  ])(
    'with sampling_rate %s and the random number %s, the error is recorded: %s',
    async (sampling_rate, randomNumber, isRecorded) => {
      const { log, dropped } = createTracker({ sampling_rate }, () => randomNumber)
      expect((await log({ exception: new TypeError('x') })) !== null).toBe(isRecorded)
      expect(await dropped()).toEqual(isRecorded ? {} : { sampled_out: 1 })
    },
  )

  test('always records critical errors, by rule, type or explicit severity', async () => {
    const { log } = createTracker({ sampling_rate: 0, custom_severity_rules: [[/Payment/, 'critical']] })
    for (const [error_type, severity] of [['PaymentError'], ['OutOfMemoryError'], ['Error', 'critical']] as const)
      expect(await log({ error_type, message: 'x', severity })).toMatchObject({
        severity: 'critical',
        state: 'recorded',
      })
    expect(await log({ error_type: 'PaymentError', message: 'x', severity: 'low' })).toBeNull()
  })
})

describe('severity', () => {
  test('uses an explicit severity and ignores an unknown one', async () => {
    const { log } = createTracker({})
    expect(await log({ exception: new TypeError('x'), severity: 'low' })).toMatchObject({ severity: 'low' })
    expect(await log({ exception: new TypeError('x'), severity: 'urgent' as never })).toMatchObject({
      severity: 'high',
    })
  })
  test('grades a system error by its code and by whether it was handled', async () => {
    const { log } = createTracker({})
    const full = Object.assign(new Error('x'), { code: 'ENOSPC' })
    expect(await log({ exception: full })).toMatchObject({ severity: 'critical' })
    expect(await log({ exception: new Error('x'), unhandled: true })).toMatchObject({ severity: 'high' })
    expect(await log({ exception: new Error('x') })).toMatchObject({ severity: 'low' })
  })
  test('warns about a string key of custom_severity_rules at the start', () => {
    const { instance, lines } = createTracker({ custom_severity_rules: [['PaymentError', 'critical']] })
    instance.start()
    expect(lines.join()).toContain('"PaymentError", which never matches')
  })
})

test('limits the stored backtrace to max_backtrace_lines of each tracker', async () => {
  const exception = new Error('x')
  for (const max_backtrace_lines of [2, 4]) {
    const { instance, log } = createTracker({ max_backtrace_lines })
    const logged = await log({ exception })
    const { backtrace } = await instance.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(backtrace).toHaveLength(max_backtrace_lines)
  }
})

describe('empty input', () => {
  test.each([
    [undefined],
    [null],
    [{}],
    [5],
    ['x'],
    [{ error_type: '', message: ' ' }],
    [{ error_type: 5n, message: {} }.message],
  ])('drops, counts and logs the input %j', async (input) => {
    const { log, dropped, lines } = createTracker({})
    expect(await log(input as never)).toBeNull()
    expect(await dropped()).toEqual({ invalid: 1 })
    expect(lines.join()).toContain('without an exception and without error_type and message')
  })
})

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const name of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[name])
}
