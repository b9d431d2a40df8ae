import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LogContext } from '../../src/options.js'
import { describeEachDatabase } from '../support/databases.js'
import { serveTracker } from '../support/host.js'
import { type Fields, NOW, type SpecHost, specHost } from './spec-host.js'

describeEachDatabase('what decides whether an error is recorded', (database) => {
  let host: SpecHost
  let answer: boolean | undefined
  const seen: { error: unknown; context: LogContext }[] = []

  beforeAll(async () => {
    host = await specHost(database, {
      sampling_rate: 0.25,
      before_log_callback: (error, context) => {
        seen.push({ error, context })
        return answer
      },
    })
  })

  afterAll(() => host?.close())

  beforeEach(() => {
    seen.length = 0
    answer = undefined
    host.chance.next = 0
  })

  const log = (fields: Fields) => host.tracker.Commands.LogError.call(fields)

  test('before_log_callback receives the exception and a context', async () => {
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

  test('before_log_callback returns true to log', async () => {
    answer = true
    expect(await log({ error_type: 'WantedError', message: 'x' })).toMatchObject({ occurrence_count: 1 })
  })

  test('before_log_callback returns false to skip', async () => {
    answer = false
    expect(await log({ error_type: 'UnwantedError', message: 'x' })).toBeNull()
    expect((await host.read('/errors?error_type=UnwantedError')).pagination).toMatchObject({ total_count: 0 })
  })

  test.each([
    [0.24, true],
    [0.26, false],
  ])('sampling_rate samples non-critical errors: by chance %d of a rate of 0.25', async (next, recorded) => {
    host.chance.next = next
    expect((await log({ error_type: `Sampled${next}`, message: 'x' })) !== null).toBe(recorded)
  })

  test('errors with severity critical bypass sampling', async () => {
    host.chance.next = 0.99
    expect(await log({ error_type: 'OutOfMemoryError', message: 'never sampled out' })).not.toBeNull()
    expect(await log({ error_type: 'PlainError', message: 'x', severity: 'critical' })).not.toBeNull()
    expect(await log({ error_type: 'PlainError', message: 'y', severity: 'high' })).toBeNull()
  })

  describe('async_logging', () => {
    test('false: the call settles when the row is committed and gives the record', async () => {
      const logged = await log({ error_type: 'CommittedError', message: 'x' })
      expect(await host.record(logged?.id ?? 0)).toMatchObject({ error_type: 'CommittedError' })
    })

    test('true: recording runs in the background, and a clean shutdown flushes', async () => {
      const settings = { database: host.url, async_logging: true, application_name: 'shop' }
      const background = await serveTracker(settings, { now: () => NOW })
      await background.tracker.Commands.LogError.call({ error_type: 'BackgroundError', message: 'x' })
      await background.close()
      expect((await host.read('/errors?error_type=BackgroundError')).pagination).toMatchObject({ total_count: 1 })
    })
  })
})
