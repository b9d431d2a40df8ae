import { beforeAll, expect, test } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { describeEachDatabase } from '../../support/databases.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { CREDENTIALS, freshStorage, trackerAt, withDatabase } from '../../support/tracker.js'
import { type GuardHost, type HostResponse, startGuardHost } from './host.js'

const REDIS = process.env.FAULTBOARD_TEST_REDIS
const ON: Settings = { enable_request_guard_tracking: true, enable_breadcrumbs: true }

/** Sends the same requests to a host with or without the tracker. */
async function visit(host: GuardHost): Promise<HostResponse[]> {
  const responses: HostResponse[] = []
  for (let i = 0; i < 5; i++) responses.push(await host.express(`/plain/${i}?token=secret`, '198.51.100.7'))
  for (let i = 0; i < 3; i++) responses.push(await host.express(`/own/${i}`, '2001:db8::7'))
  for (let i = 0; i < 3; i++) responses.push(await host.express('/watched', '203.0.113.5'))
  for (let i = 0; i < 4; i++) responses.push(await host.express('/flexible/memory', '203.0.113.5'))
  if (REDIS) {
    for (let i = 0; i < 5; i++) responses.push(await host.express('/flexible/redis', '203.0.113.6'))
    responses.push(await host.express('/flexible/broken'))
  }
  responses.push(await host.express('/block/memory'))
  responses.push(await host.express('/by-hand/track'), await host.express('/by-hand/nonsense'))
  for (let i = 0; i < 5; i++) responses.push(await host.fastify(`/fast/${i}`))
  responses.push(await host.fastify('/hooks'))
  return responses
}

describeEachDatabase(
  'rate limiters of a host',
  (database) => {
    let expected: HostResponse[]

    beforeAll(async () => {
      const bare = await startGuardHost(process.execPath, { settings: null, redis: REDIS })
      expected = await visit(bare)
      expect(await bare.stop()).toEqual({ code: 0, errors: '' })
    })

    describeEachRuntime('with tracking on', ({ path: node }) => {
      test('rejections by rate limiters are counted by rule, kind, address and path without changing responses', {
        timeout: 60_000,
      }, async () => {
        const storage = await freshStorage(database)
        // Prevents the lag guard from omitting breadcrumbs on a busy machine.
        const settings: Settings = { ...CREDENTIALS, application_name: 'shop', max_event_loop_lag_ms: null, ...ON }
        const counted = await startGuardHost(node, {
          settings: { ...settings, database: storage.url, spool_path: storage.spool_path },
          redis: REDIS,
        })
        const responses = await visit(counted)
        expect(responses).toEqual(expected)
        expect(responses.map(({ status }) => status).filter((status) => [418, 429, 403].includes(status))).toHaveLength(
          REDIS ? 13 : 10,
        )
        expect(await counted.stop()).toEqual({ code: 0, errors: '' })

        const { tracker, clock } = trackerAt(storage, ON)
        clock.now = null
        const summary = await tracker.Queries.RequestGuardSummary.call({ days: 7 })
        expect(Object.fromEntries(summary.by_rule.map(({ rule, kind, count }) => [`${kind} ${rule}`, count]))).toEqual({
          'throttle plain': 3,
          'throttle own handler': 2,
          'track watched': 2,
          'throttle memory': 2,
          'blocklist memory': 1,
          'track by hand': 1,
          'track by channel': 1,
          'throttle fastify': 1,
          'blocklist fastify': 2,
          ...(REDIS ? { 'throttle redis': 3 } : {}),
        })
        expect(Object.fromEntries(summary.by_address.map(({ ip_address, count }) => [ip_address, count]))).toEqual({
          '198.51.100.7': 3,
          '2001:db8::7': 2,
          '203.0.113.5': 4,
          '127.0.0.1': 6,
          ...(REDIS ? { '203.0.113.6': 3 } : {}),
        })
        expect(Object.fromEntries(summary.by_path.map(({ path, count }) => [path, count]))).toEqual({
          '/plain/:id': 3,
          '/own/:id': 2,
          '/watched': 2,
          '/flexible/:name': REDIS ? 5 : 2,
          '/block/:name': 1,
          '/by-hand/:kind': 2,
          '/fast/:id': 3,
        })

        const errors = await tracker.Queries.ErrorsList.call()
        const error = errors.find(({ occurrence_count }) => occurrence_count === 2)
        const { breadcrumbs } = await tracker.Queries.FindError.call({ error_id: error?.id ?? 0 })
        expect(breadcrumbs.filter(({ category }) => category === 'request_guard')).toEqual([
          expect.objectContaining({ message: 'track: watched', metadata: { kind: 'track', rule: 'watched' } }),
        ])
      })
    })

    test('rejections by rate limiters are not counted while breadcrumbs are off', {
      timeout: 60_000,
    }, async () => {
      const { url, spool_path } = await freshStorage(database)
      const off: Settings = { ...CREDENTIALS, application_name: 'shop', enable_request_guard_tracking: true }
      const host = await startGuardHost(process.execPath, {
        settings: { ...off, database: url, spool_path },
        redis: REDIS,
      })
      await visit(host)
      expect(await host.stop()).toEqual({ code: 0, errors: '' })
      const rows = await withDatabase(url, ({ read }) =>
        read.selectFrom('faultboard_request_guard_hours').selectAll().execute(),
      )
      expect(rows).toEqual([])
    })
  },
  { except: ['postgres', 'mysql'] },
)
