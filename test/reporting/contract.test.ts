import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeOneDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { onlyError, REPORT, reportingHost, totalOccurrences } from './reporting-host.js'

const HOUR = 3_600_000

describeOneDatabase('Reported client error', (database) => {
  test('a reported client error is recorded in the fields of an error, without host data', async () => {
    const host = await reportingHost({}, { database: await database.fresh(), enable_breadcrumbs: true })
    const response = await host.post(
      {
        error: {
          ...REPORT,
          url: 'https://shop.example/cart?token=verysecret',
          component: 'CartButton',
          timestamp: (NOON - HOUR) / 1000,
          device_info: { platform: 'Android', version: '14' },
          breadcrumbs: [{ category: 'ui', message: 'click button', timestamp: NOON - HOUR - 5 }, 'nonsense'],
          context: { cart: 7, password: 'hunter2' },
          tags: { plan: 'gold' },
        },
      },
      { 'user-agent': 'Mozilla/5.0 test' },
    )
    expect(response).toMatchObject({ status: 201, body: { success: true } })
    const error = await onlyError(host.tracker)
    expect(error).toMatchObject({
      error_type: 'TypeError',
      message: 'x is not a function',
      platform: 'Web',
      app_version: '1.4.0',
      git_sha: null,
      backtrace: ['at total (https://shop.example/cart.js:1:2)'],
      occurred_at: new Date(NOON - HOUR).toISOString(),
      occurrence_count: 1,
      occurrence: {
        request_url: 'https://shop.example/cart?token=[FILTERED]',
        ip_address: '127.0.0.1',
        user_agent: 'Mozilla/5.0 test',
        user_id: null,
        request: null,
        tags: { plan: 'gold', component: 'CartButton' },
        context: { cart: 7, password: '[FILTERED]', device: { platform: 'Android', version: '14' } },
        breadcrumbs: [{ category: 'ui', message: 'click button' }],
        details: { source: 'reporting' },
      },
    })
    expect(error.occurrence?.details).not.toHaveProperty('unhandled')
    expect(error.occurrence?.details).not.toHaveProperty('process')
  })

  test('a reported client error is accepted alone or in batches and grouped across browsers', async () => {
    const host = await reportingHost({}, { database: await database.fresh() })
    const stacks = [
      'TypeError: x is not a function\n    at Cart.total (https://shop.example/cart.js:1:2)',
      'total@https://shop.example/cart.js:1:9',
      'total@https://shop.example/cart.js:1:7\nmap@[native code]',
    ]
    expect((await host.post({ errors: stacks.map((stack) => ({ ...REPORT, stack })) })).status).toBe(201)
    expect((await host.post({ error: REPORT })).status).toBe(201)
    expect((await onlyError(host.tracker)).occurrence_count).toBe(4)
  })

  test('a reported client error is counted once if the client resends it to another process or after a restart', async () => {
    const url = await database.fresh()
    const body = { errors: ['a', 'b'].map((event_id) => ({ ...REPORT, event_id })) }
    const [firstHost, secondHost] = [
      await reportingHost({}, { database: url }),
      await reportingHost({}, { database: url }),
    ]
    const responses = [await firstHost.post(body), await secondHost.post(body)]
    await secondHost.tracker.shutdown()
    const restarted = await reportingHost({}, { database: url })
    responses.push(await restarted.post(body))
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201])
    expect((await onlyError(restarted.tracker)).occurrence_count).toBe(2)
    expect((await restarted.tracker.stats()).dropped).toEqual({ reported_again: 2 })
  })
})

describe('Reporting contract', () => {
  test.each([
    ['ios', 'iOS'],
    ['ANDROID', 'Android'],
    ['Web', 'Web'],
    ['api', 'API'],
    ['visionOS', 'visionOS'],
  ])('maps the platform %s to %s', async (platform, shown) => {
    const host = await reportingHost()
    await host.post({ error: { ...REPORT, platform } })
    expect((await onlyError(host.tracker)).platform).toBe(shown)
  })

  test.each([
    [{}, 'error is required'],
    [[], 'the body must be an object with error or errors'],
    [{ error: 'x' }, 'error must be an object'],
    [{ error: { ...REPORT, message: undefined } }, 'error.message is required'],
    [{ error: { ...REPORT, error_type: null } }, 'error.error_type is required'],
    [{ error: { ...REPORT, error_type: '  ' } }, 'error.error_type must not be empty'],
    [{ error: { ...REPORT, message: 7 } }, 'error.message must be a string'],
    [{ error: { ...REPORT, stack: ['at x'] } }, 'error.stack must be a string'],
    [{ error: { ...REPORT, timestamp: '1700000000' } }, 'error.timestamp must be a number'],
    [{ error: { ...REPORT, device_info: [] } }, 'error.device_info must be an object'],
    [{ error: { ...REPORT, event_id: 'a b' } }, 'error.event_id must be 1 to 64 characters of A-Z a-z 0-9 _ . : -'],
    [{ errors: {} }, 'errors must be a list'],
    [{ errors: [] }, 'errors must not be empty'],
    [{ errors: Array(11).fill(REPORT) }, 'errors must not contain more than 10 items'],
    [{ errors: [REPORT, REPORT, REPORT, { ...REPORT, platform: undefined }] }, 'errors[3].platform is required'],
    [{ errors: [REPORT, null] }, 'errors[1] must be an object'],
    [{ error: REPORT, errors: [REPORT] }, 'the body must contain error or errors, not both'],
    ['{"error":', 'the body is not valid JSON'],
    ['', 'the body is empty'],
    [`{"error":${'['.repeat(40)}${']'.repeat(40)}}`, 'the body must not be nested more than 32 levels deep'],
  ])('rejects %j with 422 and the field, and records nothing', async (body, error) => {
    const host = await reportingHost()
    expect(await host.post(body)).toMatchObject({ status: 422, body: { error } })
    expect(await totalOccurrences(host.tracker)).toBe(0)
  })

  test('accepts an error with an empty message', async () => {
    const host = await reportingHost()
    expect((await host.post({ error: { ...REPORT, message: '' } })).status).toBe(201)
  })

  test('counts a resent event once and a different event with the same id separately', async () => {
    const host = await reportingHost()
    const errors = [
      { ...REPORT, event_id: 'a-1' },
      { ...REPORT, event_id: 'a-2' },
    ]
    await Promise.all([host.post({ errors }), host.post({ errors })])
    expect((await host.post({ errors })).status).toBe(201)
    expect(await totalOccurrences(host.tracker)).toBe(2)
    await host.post({ error: { ...REPORT, message: 'another', event_id: 'a-1' } })
    // Another device that also numbers its events from 1.
    await host.post({ error: { ...REPORT, event_id: 'a-1', timestamp: NOON - HOUR } })
    expect(await totalOccurrences(host.tracker)).toBe(4)
  })

  test.each([
    ['in seconds', (NOON - HOUR) / 1000, NOON - HOUR, undefined],
    ['in milliseconds', NOON - HOUR, NOON - HOUR, undefined],
    ['of a clock that is slightly ahead', NOON + 4 * 60_000, NOON, undefined],
    ['in the future', NOON + 6 * 60_000, NOON, NOON + 6 * 60_000],
    ['in the distant past', NOON - 8 * 24 * HOUR, NOON, NOON - 8 * 24 * HOUR],
    ['that is not valid', -1e300, NOON, -1e300],
  ])('accepts or corrects a time %s', async (_title, timestamp, occurred_at, claimed) => {
    const host = await reportingHost()
    await host.post({ error: { ...REPORT, timestamp } })
    const error = await onlyError(host.tracker)
    expect(error.occurred_at).toBe(new Date(occurred_at).toISOString())
    expect(error.occurrence?.details.claimed_timestamp).toBe(claimed)
  })

  test('takes the user from the host, and from the client only with trust_user', async () => {
    const body = { error: { ...REPORT, user_id: 'client-says' } }
    const recordedUser = async (options: Parameters<typeof reportingHost>[0]) => {
      const host = await reportingHost(options)
      await host.post(body, { 'x-user': '42' })
      return (await onlyError(host.tracker)).occurrence?.user_id
    }
    expect(await recordedUser({})).toBe(null)
    expect(await recordedUser({ trust_user: true })).toBe('client-says')
    expect(await recordedUser({ trust_user: true, user: ({ request }) => request.headers.get('x-user') })).toBe('42')
    expect(await recordedUser({ user: async ({ host }) => (host as { method: string }).method })).toBe('POST')
  })
})

describe('Arbitrary request bodies', () => {
  test('arbitrary request bodies receive 201 or 422 and never fail the host', async () => {
    const host = await reportingHost(
      {},
      {
        client_max_requests_per_minute: { per_address: 1_000_000, total: 1_000_000 },
        client_max_bytes_per_minute: { per_address: 1_000_000_000, total: 1_000_000_000 },
      },
    )
    const near = fc.record(
      Object.fromEntries(
        [
          ...Object.keys(REPORT),
          'url',
          'component',
          'timestamp',
          'device_info',
          'breadcrumbs',
          'context',
          'tags',
          'count',
        ].map((name) => [
          name,
          fc.oneof(
            fc.jsonValue(),
            fc.string({ unit: 'binary' }),
            fc.constant((REPORT as Record<string, unknown>)[name]),
          ),
        ]),
      ),
      { requiredKeys: [] },
    )
    const body = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.record({ error: near }).map((value) => JSON.stringify(value)),
      fc.record({ errors: fc.array(near, { maxLength: 12 }) }).map((value) => JSON.stringify(value)),
    )
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const { status, body: response } = await host.post(text)
        expect([201, 422]).toContain(status)
        if (status === 422) expect(response).toEqual({ error: expect.any(String) })
      }),
      { numRuns: 300 },
    )
    expect(host.lines).toEqual([])
  })

  test('arbitrary request bodies cannot change or inherit from a prototype', async () => {
    const host = await reportingHost()
    const text = `{"error":{"__proto__":${JSON.stringify(REPORT)}}}`
    expect(await host.post(text)).toMatchObject({ status: 422, body: { error: 'error.error_type is required' } })
    const polluting = JSON.stringify({ error: REPORT }).replace(/}}$/, ',"context":{"__proto__":{"admin":true}}}}')
    expect((await host.post(polluting)).status).toBe(201)
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })
})
