import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { OptionName } from '../../src/options.js'
import { describeEachDatabase } from '../support/databases.js'
import { DAY, NOW, type SpecHost, specHost } from './spec-host.js'

describeEachDatabase('limits', (database) => {
  let host: SpecHost
  let minutes = 0

  beforeAll(async () => {
    host = await specHost(database, { enable_rate_limiting: true, retention_days: 30 })
  })

  afterAll(() => host?.close())

  // Each test starts with an unused rate limit.
  beforeEach(() => {
    host.clock.now = NOW + ++minutes * 61_000
  })

  const at = (action: string) => `/errors/${host.ids.crash}/${action}`

  test('returns 429 over the default rate_limit_per_minute of 100', async () => {
    expect(host.tracker.config.rate_limit_per_minute).toBe(100)
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => (await host.get('/assets/dashboard.css')).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    const over = await host.get('/errors')
    expect(over.status).toBe(429)
    expect(over.headers.get('content-type')).toContain('application/json')
    expect(await over.json()).toEqual({ error: expect.stringContaining('Too many requests') })
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(over.headers.get('ratelimit-limit')).toBe('100')
    expect(over.headers.get('ratelimit-remaining')).toBe('0')
    host.clock.now += 61_000
    expect((await host.get('/errors')).status).toBe(200)
    minutes++
  })

  test('defaults to page 1 with 25 errors and limits per_page to 100', async () => {
    expect((await host.read('/errors')).pagination).toMatchObject({ page: 1, per_page: 25 })
    expect((await host.read('/errors?per_page=101')).pagination).toMatchObject({ per_page: 100 })
  })

  test.each(['-1', '5', '2.5'])('rejects priority_level %s in update_priority', async (priority_level) => {
    expect((await host.refusal(at('update_priority'), { priority_level })).status).toBe(422)
  })

  test.each(['9', '-1', '1.5', 'none'])('returns 422 for a list filtered by priority_level=%s', async (level) => {
    const response = await host.read(`/errors?priority_level=${level}`)
    expect(response).toMatchObject({ status: 422, error: 'priority_level must be a whole number from 0 to 4' })
  })

  test.each(['page', 'per_page', 'priority_level', 'application_id'])(
    'returns 422 for a fraction, an exponent or a prefix in %s of the list',
    async (name) => {
      for (const value of ['1.5', '1.0', '1e1', '0x10', '%2B5', 'x']) {
        const response = await host.read(`/errors?${name}=${value}`)
        expect(response).toMatchObject({ status: 422, error: expect.stringMatching(new RegExp(`^${name} must be`)) })
      }
    },
  )

  test.each(['errors/analytics', 'errors/platform_comparison', 'errors/correlation'])(
    'returns 422 for a fraction or an exponent in the days of %s',
    async (path) => {
      for (const days of ['1.5', '7.0', '1e1']) {
        expect((await host.read(`/${path}?days=${days}`)).status).toBe(422)
      }
    },
  )

  test.each(['1e1', '2.0', '+2', '0x2'])('returns 422 for update_priority with %s', async (priority_level) => {
    expect((await host.refusal(at('update_priority'), { priority_level })).status).toBe(422)
  })

  test.each([
    ['errors/analytics', 30],
    ['errors/platform_comparison', 7],
    ['errors/correlation', 30],
  ])('defaults the days of %s to %i', async (path, days) => {
    expect(await host.read(`/${path}`)).toMatchObject({ status: 200, period: { days } })
  })

  test('stores at most 50 backtrace lines by default', async () => {
    const backtrace = Array.from({ length: 51 }, (_, i) => `at f${i} (/srv/a.js:${i}:1)`)
    const logged = await host.tracker.Commands.LogError.call({ error_type: 'Deep', message: 'x', backtrace })
    expect((await host.record(logged?.id ?? 0)).backtrace).toHaveLength(50)
  })

  test('deletes errors not seen for retention_days', async () => {
    const log = async (error_type: string, days: number) =>
      (await host.tracker.Commands.LogError.call({ error_type, message: 'x', occurred_at: NOW - days * DAY }))?.id ?? 0
    const [old, recent] = [await log('Old', 31), await log('Recent', 29)]
    // Deletes the sample from 40 days ago too.
    expect(await host.tracker.Commands.CleanupErrors.call()).toMatchObject({ deleted: 2 })
    expect((await host.read(`/errors/${old}`)).status).toBe(404)
    expect((await host.read(`/errors/${recent}`)).status).toBe(200)
  })

  test.each<[OptionName, unknown]>([
    ['sampling_rate', 1],
    ['max_backtrace_lines', 50],
    ['rate_limit_per_minute', 100],
    ['swallowed_exception_flush_interval', 60],
    ['swallowed_exception_threshold', 0.95],
    ['baseline_alert_threshold_std_devs', 2],
    ['baseline_alert_cooldown_minutes', 120],
    ['baseline_alert_severities', ['critical', 'high']],
    ['source_code_context_lines', 5],
    ['source_code_cache_ttl', 3600],
    ['mount_path', '/error_dashboard'],
    ['enable_middleware', true],
    ['enable_error_subscriber', true],
    ['crash_capture_path', null],
  ])('uses the default of %s: %j', (name, value) => {
    expect(host.tracker.config[name]).toEqual(value)
  })

  describe('limits of text input', () => {
    test.each([
      ['snooze', { hours: '8760' }, 302],
      ['snooze', { hours: '8761' }, 422],
      ['add_comment', { author_name: 'B'.repeat(255), body: 'x'.repeat(10_000) }, 302],
      ['add_comment', { author_name: 'B'.repeat(256), body: 'x' }, 422],
      ['add_comment', { author_name: 'B', body: 'x'.repeat(10_001) }, 422],
      ['assign', { assigned_to: 'e'.repeat(255) }, 302],
      ['assign', { assigned_to: 'e'.repeat(256) }, 422],
    ])('returns $2 for %s, case %#', async (action, form, status) => {
      expect((await host.post(at(action), form as Record<string, string>)).status).toBe(status)
    })

    test.each([
      [1000, 302],
      [1001, 422],
    ])('returns $1 for batch_action with $0 ids', async (amount, status) => {
      const ids = Array.from({ length: amount }, (_, i) => String(900_000 + i))
      const form = { 'error_ids[]': ids, action_type: 'delete' }
      expect((await host.post('/errors/batch_action', form)).status).toBe(status)
    })
  })
})
