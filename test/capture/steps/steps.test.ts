import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { TrackerInstance } from '../../../src/tracker.js'
import { CREDENTIALS, NOON, temporaryFolder } from '../../support/tracker.js'

function tracker(settings: Settings, random: () => number = () => 0.5) {
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

describe('ignored_exceptions leaves errors out', () => {
  test('by type name, by RegExp, stateful or not, and by class with its subclasses', async () => {
    const { log, dropped } = tracker({ ignored_exceptions: ['AbortError', /^Rate/g, NotFound] })
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

  test('and a matcher that throws loses no error', async () => {
    class Hostile extends Error {
      static override [Symbol.hasInstance](): boolean {
        throw new Error('no')
      }
    }
    const { log, dropped } = tracker({ ignored_exceptions: [Hostile] })
    expect(await log({ exception: new Error('x') })).toMatchObject({ state: 'recorded' })
    expect(await dropped()).toEqual({ 'failed: ignored_exceptions': 1 })
  })
})

describe('before_log_callback', () => {
  test('receives the original exception and a context', async () => {
    const before_log_callback = vi.fn(() => true)
    const { log } = tracker({ before_log_callback })
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
  ])('that returns %s: logged is %s', async (answer, isLogged) => {
    const { log, dropped } = tracker({ before_log_callback: () => answer as boolean })
    expect((await log({ exception: new Error('x') })) !== null).toBe(isLogged)
    expect(await dropped()).toEqual(isLogged ? {} : { skipped_by_callback: 1 })
  })

  test('records the error if the callback throws and keeps its secrets out of the log', async () => {
    const fail = () => {
      throw new Error('broken, password=hunter2')
    }
    const { log, dropped, lines } = tracker({ before_log_callback: fail })
    expect(await log({ exception: new Error('x') })).toMatchObject({ state: 'recorded' })
    expect(await dropped()).toEqual({ 'failed: before_log_callback': 1 })
    expect(lines.join()).toContain('before_log_callback failed: broken, password=[FILTERED]')
  })

  test.each([
    ['a revoked Proxy', () => revoked()],
    ['an object without a prototype', () => Object.create(null)],
    ['a Symbol', () => Symbol('x')],
    ['nothing', () => undefined],
  ])('that throws %s logs the error all the same', async (_, thrown) => {
    const fail = () => {
      throw thrown()
    }
    const { log, dropped } = tracker({ before_log_callback: fail, custom_fingerprint: fail })
    expect(await log({ exception: new Error('x') })).toMatchObject({ state: 'recorded' })
    expect(await dropped()).toEqual({ 'failed: before_log_callback': 1, 'failed: custom_fingerprint': 1 })
  })

  test('records the error if the callback is asynchronous and handles its rejection', async () => {
    const { log, lines } = tracker({ before_log_callback: (async () => Promise.reject(new Error('late'))) as never })
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
  ])('%s with the chance %s: recorded is %s', async (sampling_rate, chance, isRecorded) => {
    const { log, dropped } = tracker({ sampling_rate }, () => chance)
    expect((await log({ exception: new TypeError('x') })) !== null).toBe(isRecorded)
    expect(await dropped()).toEqual(isRecorded ? {} : { sampled_out: 1 })
  })

  test('is bypassed by critical errors, by rule, type or explicit severity', async () => {
    const { log } = tracker({ sampling_rate: 0, custom_severity_rules: [[/Payment/, 'critical']] })
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
    const { log } = tracker({})
    expect(await log({ exception: new TypeError('x'), severity: 'low' })).toMatchObject({ severity: 'low' })
    expect(await log({ exception: new TypeError('x'), severity: 'urgent' as never })).toMatchObject({
      severity: 'high',
    })
  })
  test('follows the code of a system error and whether it escaped', async () => {
    const { log } = tracker({})
    const full = Object.assign(new Error('x'), { code: 'ENOSPC' })
    expect(await log({ exception: full })).toMatchObject({ severity: 'critical' })
    expect(await log({ exception: new Error('x'), unhandled: true })).toMatchObject({ severity: 'high' })
    expect(await log({ exception: new Error('x') })).toMatchObject({ severity: 'low' })
  })
  test('a string key of custom_severity_rules prints a warning at the start', () => {
    const { instance, lines } = tracker({ custom_severity_rules: [['PaymentError', 'critical']] })
    instance.start()
    expect(lines.join()).toContain('"PaymentError", which never matches')
  })
})

test('max_backtrace_lines cuts the stored backtrace, for each tracker by itself', async () => {
  const exception = new Error('x')
  for (const max_backtrace_lines of [2, 4]) {
    const { instance, log } = tracker({ max_backtrace_lines })
    const logged = await log({ exception })
    const { backtrace } = await instance.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(backtrace).toHaveLength(max_backtrace_lines)
  }
})

describe('an input with nothing in it', () => {
  test.each([
    [undefined],
    [null],
    [{}],
    [5],
    ['x'],
    [{ error_type: '', message: ' ' }],
    [{ error_type: 5n, message: {} }.message],
  ])('%j is not recorded, counted and said', async (input) => {
    const { log, dropped, lines } = tracker({})
    expect(await log(input as never)).toBeNull()
    expect(await dropped()).toEqual({ invalid: 1 })
    expect(lines.join()).toContain('without an exception and without error_type and message')
  })
})

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
