import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { runChild } from '../../support/processes/children.js'
import { CREDENTIALS, freshStorage, trackerAt, withDatabase } from '../../support/tracker.js'

const PROCESSES = 4
const EVENTS = 1200

describeEachDatabase('request-guard events of several processes', (database) => {
  test('request-guard events of several processes add up exactly after a shutdown or a normal exit', {
    timeout: 120_000,
  }, async () => {
    const { url, spool_path } = await freshStorage(database)
    const settings = { enable_request_guard_tracking: true, enable_breadcrumbs: true, application_name: 'shop' }
    await Promise.all(
      Array.from({ length: PROCESSES }, (_, i) =>
        runChild('guard', {
          settings: { ...CREDENTIALS, ...settings, database: url, spool_path },
          count: EVENTS,
          shut_down: i % 2 === 0,
        }),
      ),
    )
    const { tracker, clock } = trackerAt({ url, spool_path })
    clock.now = null
    const { total_count, by_kind, by_rule, by_address, by_path } = await tracker.Queries.RequestGuardSummary.call()
    const all = PROCESSES * EVENTS
    expect(total_count).toBe(all)
    expect(by_kind).toEqual({ throttle: all / 3, blocklist: all / 3, track: all / 3 })
    expect(by_rule.map(({ count }) => count)).toEqual(Array(12).fill(all / 12))
    expect(by_address.map(({ count }) => count)).toEqual(Array(5).fill(all / 5))
    expect(by_path).toMatchObject([{ path: '/orders/:id', count: all }])
    const rows = await withDatabase(url, ({ read }) =>
      read.selectFrom('faultboard_request_guard_hours').select(['hour', 'event_digest']).execute(),
    )
    // The test can run across the end of an hour.
    expect(rows.length).toBe(60 * new Set(rows.map(({ hour }) => hour)).size)
  })
})
