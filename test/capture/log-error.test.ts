import { expect, test } from 'vitest'
import { describeOneDatabase } from '../support/databases.js'
import { freshTracker, NOON } from '../support/tracker.js'

const HOUR = 3_600_000

describeOneDatabase('LogError', (database) => {
  test('records an exception with all fields', async () => {
    const { tracker } = await freshTracker(database, { environment: 'staging' })
    const exception = Object.assign(new TypeError('No price for Grüße 👋'), { code: 'ENOPRICE', statusCode: 502 })
    const logged = await tracker.Commands.LogError.call({
      exception,
      occurred_at: new Date(NOON - HOUR),
      platform: 'ios',
      app_version: '2.1.0',
      git_sha: 'abc1234',
      user_id: 42,
      request_url: 'https://shop.example/cart?item=5',
      request_params: { item: 5, tags: ['a', 'b'], nested: { deep: true } },
      ip_address: '2001:db8::1',
      user_agent: 'Shop/2.1 (iPhone)',
      context: { cart: { size: 3 } },
    })
    expect(logged).toMatchObject({ state: 'recorded', occurrence_count: 1, is_new: true, error_type: 'TypeError' })
    const error = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(error).toMatchObject({
      error_type: 'TypeError',
      message: 'No price for Grüße 👋',
      severity: 'high',
      status: 'new',
      resolved: false,
      priority_level: 0,
      platform: 'iOS',
      app_version: '2.1.0',
      git_sha: 'abc1234',
      user_id: '42',
      user_count: 1,
      occurred_at: new Date(NOON - HOUR).toISOString(),
      first_seen_at: new Date(NOON - HOUR).toISOString(),
      request_url: 'https://shop.example/cart?item=5',
      request_params: { item: 5, tags: ['a', 'b'], nested: { deep: true } },
      ip_address: '2001:db8::1',
      user_agent: 'Shop/2.1 (iPhone)',
      application_name: 'shop',
      environment: 'staging',
      details: { code: 'ENOPRICE', statusCode: 502 },
      context: { cart: { size: 3 } },
    })
    expect(error.hash_signature).toBe(logged?.hash_signature)
    expect(error.place).toContain('test/capture/log-error.test.ts')
    expect(error.backtrace[0]).toMatch(/^at .*log-error\.test\.ts:\d+:\d+/)
  })

  test('records an error by its fields, with a backtrace as a list or as text', async () => {
    const { tracker } = await freshTracker(database)
    const lines = ['at total (https://shop.example/cart.js:1:2)', 'at main (https://shop.example/cart.js:3:4)']
    const fields = { error_type: 'CartError', message: 'Empty', platform: 'Web', severity: 'critical' } as const
    const list = await tracker.Commands.LogError.call({ ...fields, backtrace: lines })
    const text = await tracker.Commands.LogError.call({
      ...fields,
      backtrace: `CartError: Empty\n    ${lines.join('\n    ')}`,
    })
    expect([list?.occurrence_count, text?.occurrence_count, text?.id]).toEqual([1, 2, list?.id])
    const error = await tracker.Queries.FindError.call({ error_id: list?.id ?? 0 })
    expect(error).toMatchObject({ ...fields, backtrace: lines, place: 'https://shop.example/cart.js:1 in total' })
  })

  test('replaces invalid characters and truncates long text', async () => {
    const { tracker } = await freshTracker(database)
    const long = 'x'.repeat(1_000_000)
    const logged = await tracker.Commands.LogError.call({
      error_type: `A\0B\uD800${long}`,
      message: `NUL \0 and half \uDC00 ${long}`,
      backtrace: Array.from({ length: 10_000 }, (_, i) => `at f${i} (/a\0.js:${i}:1)${long.slice(0, 5000)}`),
      platform: long,
      app_version: long,
      git_sha: long,
      user_id: long,
      request_url: `https://shop.example/${long}`,
      request_params: { long, many: Array(1_000_000).fill('y') },
      ip_address: long,
      user_agent: long,
      context: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key${i}`, long])),
    })
    expect(logged).toMatchObject({ state: 'recorded' })
    const error = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    const { occurrences: _, ...rest } = error
    const text = JSON.stringify(rest)
    expect(text.length).toBeLessThan(300_000)
    expect(text.isWellFormed() && !text.includes('\\u0000')).toBe(true)
    expect(error.message.startsWith('NUL \uFFFD and half \uFFFD xxx')).toBe(true)
    expect(error.backtrace).toHaveLength(50)
  })

  test('counts two occurrences in one tick as 1 and 2 of one error', async () => {
    const { tracker } = await freshTracker(database)
    const fields = { error_type: 'CartError', message: 'Empty' }
    const both = await Promise.all([tracker.Commands.LogError.call(fields), tracker.Commands.LogError.call(fields)])
    expect(both.map((logged) => logged?.occurrence_count)).toEqual([1, 2])
    expect(both.map((logged) => logged?.is_new)).toEqual([true, false])
    expect(both[0]?.id).toBe(both[1]?.id)
    expect(await tracker.Queries.ErrorsList.call()).toMatchObject([{ occurrence_count: 2 }])
  })

  test('moves first_seen_at but not occurred_at for a late occurrence', async () => {
    const { tracker } = await freshTracker(database)
    const fields = { error_type: 'CartError', message: 'Empty' }
    for (const [occurred_at, app_version] of [
      [NOON - HOUR, '2'],
      [NOON - 5 * HOUR, '1'],
    ] as const)
      await tracker.Commands.LogError.call({ ...fields, occurred_at, app_version })
    expect(await tracker.Queries.ErrorsList.call()).toMatchObject([
      {
        occurrence_count: 2,
        occurred_at: new Date(NOON - HOUR).toISOString(),
        first_seen_at: new Date(NOON - 5 * HOUR).toISOString(),
        app_version: '2',
      },
    ])
  })
})
