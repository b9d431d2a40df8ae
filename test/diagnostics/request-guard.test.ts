import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Context } from '../../src/context.js'
import { daysInput } from '../../src/diagnostics/days.js'
import { LISTED, requestGuardSummary } from '../../src/diagnostics/request-guard.js'
import { parseInput } from '../../src/model/input.js'
import { DAY, HOUR } from '../../src/model/time.js'
import { perform } from '../../src/operation.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { addApplication, runningContext } from './running.js'

interface Sum {
  application_id: number
  kind?: string
  rule?: string
  ip_address?: string
  path?: string
  hour?: number
  count: number
}

async function store({ database }: Context, sums: readonly Sum[]): Promise<void> {
  for (const { application_id, hour = NOON, count, ...event } of sums) {
    const known = { kind: 'throttle', rule: 'logins', ip_address: '192.0.2.1', path: '/login', ...event }
    const event_digest = createHash('sha256').update(JSON.stringify(known)).digest('hex')
    await database.read
      .insertInto('faultboard_request_guard_hours')
      .values({ application_id, hour, event_digest, count, ...known })
      .execute()
  }
}

/** At noon of 10 March in UTC; where the clocks went forward on the 8th, that day had 23 hours. */
const ZONES = [
  ['America/New_York', '2026-03-10'],
  ['Asia/Kolkata', '2026-03-10'],
  ['Pacific/Kiritimati', '2026-03-11'],
] as const

describeEachDatabase('the request guard', (database) => {
  test('is summed up by kind, rule, address, path and day', async () => {
    const context = await runningContext(database)
    const application_id = await addApplication(context, 'shop')
    await store(context, [
      { application_id, count: 5 },
      { application_id, count: 7, hour: NOON - DAY },
      { application_id, count: 2, ip_address: '192.0.2.9', path: '/pay' },
      { application_id, count: 4, kind: 'blocklist', rule: 'scrapers', ip_address: '203.0.113.5', path: '/' },
      { application_id, count: 1, kind: 'track', rule: 'logins' },
    ])
    const today = new Date(NOON).toISOString()
    const summary = await perform(requestGuardSummary, context, { days: 7 })
    expect(summary).toMatchObject({
      days: 7,
      total_count: 19,
      by_kind: { throttle: 14, blocklist: 4, track: 1 },
      by_rule: [
        { rule: 'logins', kind: 'throttle', count: 14, last_seen_at: today },
        { rule: 'scrapers', kind: 'blocklist', count: 4 },
        { rule: 'logins', kind: 'track', count: 1 },
      ],
      by_address: [
        { ip_address: '192.0.2.1', count: 13, last_seen_at: today },
        { ip_address: '203.0.113.5', count: 4 },
        { ip_address: '192.0.2.9', count: 2 },
      ],
      by_path: [
        { path: '/login', count: 13 },
        { path: '/', count: 4 },
        { path: '/pay', count: 2 },
      ],
    })
    expect(summary.by_day).toHaveLength(7)
    expect(summary.by_day.slice(-2)).toEqual([
      { day: '2026-03-09', throttle: 7, blocklist: 0, track: 0 },
      { day: '2026-03-10', throttle: 7, blocklist: 4, track: 1 },
    ])
  })

  test('without any event is nothing on every day', async () => {
    const context = await runningContext(database)
    const summary = await perform(requestGuardSummary, context, {})
    expect(summary).toMatchObject({ days: 30, total_count: 0, by_rule: [], by_address: [], by_path: [] })
    expect(summary.by_day).toHaveLength(30)
  })

  test('cuts days in the time zone, and every event is in one of them', async () => {
    const context = await runningContext(database)
    const application_id = await addApplication(context, 'shop')
    const hours = Array.from({ length: 10 * 24 }, (_, i) => NOON - i * HOUR)
    await store(
      context,
      hours.map((hour) => ({ application_id, hour, count: 1 })),
    )
    for (const [time_zone, today] of ZONES) {
      const there = { ...context, config: { ...context.config, time_zone } }
      const { by_day, total_count } = await perform(requestGuardSummary, there, { days: 7 })
      const dayOf = (time: number) => new Intl.DateTimeFormat('en-CA', { timeZone: time_zone }).format(time)
      const expected = by_day.map(({ day }) => hours.filter((hour) => dayOf(hour) === day).length)
      expect(by_day.at(-1)?.day).toBe(today)
      expect(new Set(by_day.map(({ day }) => day)).size).toBe(7)
      expect(by_day.map(({ throttle }) => throttle)).toEqual(expected)
      expect(total_count).toBe(expected.reduce((sum, count) => sum + count, 0))
    }
  })

  test('is told of one application or of all', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const depot = await addApplication(context, 'depot')
    await store(context, [
      { application_id: shop, count: 3 },
      { application_id: depot, count: 4 },
    ])
    const total = async (application_id?: number) =>
      (await perform(requestGuardSummary, context, { application_id })).total_count
    expect([await total(), await total(shop), await total(depot), await total(depot + 1)]).toEqual([7, 3, 4, 0])
  })

  test('lists only the most frequent', async () => {
    const context = await runningContext(database)
    const application_id = await addApplication(context, 'shop')
    await store(
      context,
      Array.from({ length: LISTED + 10 }, (_, i) => ({ application_id, path: `/p${i}`, count: i + 1 })),
    )
    const { by_path } = await perform(requestGuardSummary, context, {})
    expect(by_path).toHaveLength(LISTED)
    expect(by_path[0]).toMatchObject({ path: `/p${LISTED + 9}`, count: LISTED + 10 })
  })
})

describe('the span of a summary', () => {
  test.each([0, 8, 365, '7.5', 'week', Number.NaN])('is 7, 30 or 90 days, not %s', (days) => {
    expect(() => parseInput(daysInput, { days })).toThrow('days must be one of 7, 30, 90')
  })
})
