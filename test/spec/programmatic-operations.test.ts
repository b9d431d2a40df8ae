import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { type Fields, NOW, type SpecHost, specHost } from './spec-host.js'

describeEachDatabase('programmatic operations', (database) => {
  let host: SpecHost

  beforeAll(async () => {
    host = await specHost(database)
  })

  afterAll(() => host?.close())

  describe('Tracker.Commands.LogError.call', () => {
    test('accepts the exception object', async () => {
      const exception = new TypeError('x is not a function')
      const logged = await host.tracker.Commands.LogError.call({ exception })
      expect(logged).toMatchObject({ id: expect.any(Number), occurrence_count: 1 })
      const record = await host.record(logged?.id ?? 0)
      expect(record).toMatchObject({ error_type: 'TypeError', message: 'x is not a function', severity: 'high' })
      expect((record.backtrace as string[]).join('\n')).toContain('programmatic-operations.test.ts')
    })

    test.each<[string, unknown, unknown]>([
      ['error_type', 'FieldsError', 'FieldsError'],
      ['message', 'every field', 'every field'],
      ['backtrace', ['at a (/srv/a.js:1:1)', 'at b (/srv/b.js:2:2)'], ['at a (/srv/a.js:1:1)', 'at b (/srv/b.js:2:2)']],
      ['occurred_at', new Date(NOW - 1000), new Date(NOW - 1000).toISOString()],
      ['platform', 'Android', 'Android'],
      ['app_version', '3.1.0', '3.1.0'],
      ['git_sha', 'f00ba4', 'f00ba4'],
      ['user_id', 'u-77', 'u-77'],
      ['request_url', '/cart', '/cart'],
      ['request_params', { item: 5 }, { item: 5 }],
      ['ip_address', '198.51.100.4', '198.51.100.4'],
      ['user_agent', 'Shop/3.1', 'Shop/3.1'],
      ['severity', 'critical', 'critical'],
    ])('accepts the field %s', async (field, given, kept) => {
      const fields: Fields = { error_type: `Field_${field}`, message: `with ${field}`, [field]: given }
      const logged = await host.tracker.Commands.LogError.call(fields)
      expect((await host.record(logged?.id ?? 0))[field]).toEqual(kept)
    })

    test('records or groups the error', async () => {
      const fields = { error_type: 'GroupedError', message: 'again and again' }
      const [first, second] = [
        await host.tracker.Commands.LogError.call(fields),
        await host.tracker.Commands.LogError.call(fields),
      ]
      expect(second).toMatchObject({ id: first?.id, occurrence_count: 2 })
    })
  })

  test('resolves with Tracker.Commands.ResolveError.call', async () => {
    await host.tracker.Commands.ResolveError.call({
      error_id: host.ids.crash,
      resolved_by: 'Ada',
      resolution_comment: 'Fixed in 2.1',
      resolution_reference: 'https://git.example/commit/abc',
    })
    expect(await host.record('crash')).toMatchObject({
      resolved: true,
      resolved_by_name: 'Ada',
      resolution_comment: 'Fixed in 2.1',
      resolution_reference: 'https://git.example/commit/abc',
    })
  })

  test('deletes error_ids with Tracker.Commands.BatchDeleteErrors.call', async () => {
    const ids = await Promise.all(
      ['DeleteA', 'DeleteB'].map(
        async (error_type) => (await host.tracker.Commands.LogError.call({ error_type, message: 'x' }))?.id ?? 0,
      ),
    )
    await host.tracker.Commands.BatchDeleteErrors.call({ error_ids: ids })
    for (const id of ids) expect((await host.get(`/errors/${id}`)).status).toBe(404)
  })

  test('returns the keys of the overview from Tracker.Queries.DashboardStats.call', async () => {
    const stats = await host.tracker.Queries.DashboardStats.call()
    expect(Object.keys(stats)).toEqual(
      expect.arrayContaining([
        'total_errors',
        'errors_today',
        'errors_last_7_days',
        'errors_last_30_days',
        'top_errors',
        'errors_by_platform',
        'resolved_count',
        'unresolved_count',
      ]),
    )
    expect(stats.resolved_count + stats.unresolved_count).toBe(stats.total_errors)
    expect(stats.top_errors.length).toBeLessThanOrEqual(10)
    expect(await host.read('/overview')).toMatchObject({ total_errors: stats.total_errors })
  })

  test.each([
    ['platform', { platform: 'iOS' }, ['AppCrash']],
    ['error_type', { error_type: 'TimeoutError' }, ['TimeoutError']],
    ['unresolved', { unresolved: true, platform: 'iOS' }, []],
    ['search', { search: 'heap IS full' }, ['OutOfMemoryError']],
  ])('accepts %s in Tracker.Queries.ErrorsList.call', async (_name, filter, types) => {
    const found = await host.tracker.Queries.ErrorsList.call(filter)
    expect(found.map(({ error_type }) => error_type)).toEqual(types)
  })

  describe('new Tracker.Queries.PlatformComparison({ days })', () => {
    test.each(['errorRateByPlatform', 'platformStabilityScores', 'crossPlatformErrors'] as const)(
      'returns an object from %s',
      async (method) => {
        const comparison = new host.tracker.Queries.PlatformComparison({ days: 7 })
        const result = await comparison[method]()
        expect(typeof result).toBe('object')
        if (method !== 'crossPlatformErrors') expect(JSON.stringify(result)).toContain('Web')
      },
    )

    test('returns platformHealthSummary(platform)', async () => {
      const comparison = new host.tracker.Queries.PlatformComparison({ days: 7 })
      expect(await comparison.platformHealthSummary('Web')).toMatchObject({ platform: 'Web' })
    })
  })

  describe('new Tracker.Queries.ErrorCorrelation({ days })', () => {
    test.each(['errorsByVersion', 'problematicReleases', 'multiErrorUsers', 'timeCorrelatedErrors'] as const)(
      'returns an object from %s',
      async (method) => {
        const correlation = new host.tracker.Queries.ErrorCorrelation({ days: 30 })
        const result = await correlation[method]()
        expect(typeof result).toBe('object')
        if (method === 'errorsByVersion') expect(JSON.stringify(result)).toContain('2.0')
        // One user is affected by the timeout and the type error.
        if (method === 'multiErrorUsers') expect(JSON.stringify(result)).toContain('u-1')
      },
    )
  })

  describe('configuration', () => {
    test('applies a configure block after a restart', () => {
      expect(() => host.tracker.configure((config) => Object.assign(config, { retention_days: 5 }))).toThrow(/restart/)
      expect(host.tracker.config.retention_days).toBe(90)
    })

    test('rejects unknown records and invalid input with an error code', async () => {
      await expect(host.tracker.Commands.ResolveError.call({ error_id: 999_999 })).rejects.toMatchObject({
        code: 'not_found',
      })
      await expect(
        host.tracker.Queries.ErrorsList.call({ severity: 'urgent' } as unknown as { severity: 'low' }),
      ).rejects.toMatchObject({ code: 'invalid_input' })
    })
  })
})
