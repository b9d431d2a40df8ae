import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LogContext } from '../../src/options.js'
import { describeEachDatabase } from '../support/databases.js'
import { serveTracker } from '../support/host.js'
import { type Fields, NOW, type SpecHost, specHost } from './spec-host.js'

describeEachDatabase('recording decisions', (database) => {
  let host: SpecHost
  let callbackResult: boolean | undefined
  const seen: { error: unknown; context: LogContext }[] = []

  beforeAll(async () => {
    host = await specHost(database, {
      sampling_rate: 0.25,
      before_log_callback: (error, context) => {
        seen.push({ error, context })
        return callbackResult
      },
    })
  })

  afterAll(() => host?.close())

  beforeEach(() => {
    seen.length = 0
    callbackResult = undefined
    host.chance.next = 0
  })

  const log = (fields: Fields) => host.tracker.Commands.LogError.call(fields)

  test('passes the exception and a context to before_log_callback', async () => {
    const exception = new RangeError('too far')
    await log({ exception, platform: 'Web', user_id: 'u-5', request_url: '/map' })
    expect(seen).toHaveLength(1)
    expect(seen[0]?.error).toBe(exception)
    expect(seen[0]?.context).toMatchObject({
      error_type: 'RangeError',
      message: 'too far',
      platform: 'Web',
      user_id: 'u-5',
      request_url: '/map',
    })
  })

  test('records the error if before_log_callback returns true', async () => {
    callbackResult = true
    expect(await log({ error_type: 'WantedError', message: 'x' })).toMatchObject({ occurrence_count: 1 })
  })

  test('skips the error if before_log_callback returns false', async () => {
    callbackResult = false
    expect(await log({ error_type: 'UnwantedError', message: 'x' })).toBeNull()
    expect((await host.read('/errors?error_type=UnwantedError')).pagination).toMatchObject({ total_count: 0 })
  })

  test.each([
    [0.24, true],
    [0.26, false],
  ])('samples non-critical errors: random value %d at a rate of 0.25', async (next, recorded) => {
    host.chance.next = next
    expect((await log({ error_type: `Sampled${next}`, message: 'x' })) !== null).toBe(recorded)
  })

  test('records all critical errors regardless of sampling', async () => {
    host.chance.next = 0.99
    expect(await log({ error_type: 'OutOfMemoryError', message: 'never sampled out' })).not.toBeNull()
    expect(await log({ error_type: 'PlainError', message: 'x', severity: 'critical' })).not.toBeNull()
    expect(await log({ error_type: 'PlainError', message: 'y', severity: 'high' })).toBeNull()
  })

  describe('async_logging', () => {
    test('returns the record after the commit without async_logging', async () => {
      const logged = await log({ error_type: 'CommittedError', message: 'x' })
      expect(await host.record(logged?.id ?? 0)).toMatchObject({ error_type: 'CommittedError' })
    })

    test('records in the background with async_logging and flushes on shutdown', async () => {
      const settings = { database: host.url, async_logging: true, application_name: 'shop' }
      const background = await serveTracker(settings, { now: () => NOW })
      await background.tracker.Commands.LogError.call({ error_type: 'BackgroundError', message: 'x' })
      await background.close()
      expect((await host.read('/errors?error_type=BackgroundError')).pagination).toMatchObject({ total_count: 1 })
    })
  })
})
