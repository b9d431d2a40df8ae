import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/context.js'
import { daysInput } from '../../../src/diagnostics/hourly/days.js'
import { foldGuardHours } from '../../../src/diagnostics/request-guard/fold-guard-hours.js'
import { GUARD_HOURS } from '../../../src/diagnostics/request-guard/hours.js'
import { MAX_LISTED_ROWS, requestGuardSummary } from '../../../src/diagnostics/request-guard/query.js'
import { OTHERS } from '../../../src/model/frequent-names.js'
import { parseInput } from '../../../src/model/input/input.js'
import { DAY, HOUR, MINUTE } from '../../../src/model/time.js'
import { perform } from '../../../src/operation.js'
import { namesDigest } from '../../../src/store/counters/define-hour-table.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addApplication, runningContext } from '../running.js'

interface Sum {
  application_id: number
  environment?: string
  kind?: string
  rule?: string
  ip_address?: string
  path?: string
  hour?: number
  last_seen_at?: number | null
  count: number
}

async function store({ database }: Context, sums: readonly Sum[]): Promise<void> {
  for (const { application_id, hour = NOON, last_seen_at = null, count, ...event } of sums) {
    const known = {
      environment: 'production',
      kind: 'throttle',
      rule: 'logins',
      ip_address: '192.0.2.1',
      path: '/login',
      ...event,
    }
    const event_digest = namesDigest(GUARD_HOURS, known)
    await database.read
      .insertInto('faultboard_request_guard_hours')
      .values({ application_id, hour, event_digest, count, last_seen_at, ...known })
      .execute()
  }
}

/** Noon of March 10 in UTC. In New York, March 8 had 23 hours. */
const ZONES = [
  ['America/New_York', '2026-03-10'],
  ['Asia/Kolkata', '2026-03-10'],
  ['Pacific/Kiritimati', '2026-03-11'],
] as const

describeEachDatabase('the request-guard summary', (database) => {
  test('sums events by kind, rule, address, path and day', async () => {
    const context = await runningContext(database)
    const application_id = await addApplication(context, 'shop')
    await store(context, [
      { application_id, count: 5, last_seen_at: NOON + 25 * MINUTE },
      { application_id, count: 7, hour: NOON - DAY },
      { application_id, count: 2, ip_address: '192.0.2.9', path: '/pay' },
      { application_id, count: 4, kind: 'blocklist', rule: 'scrapers', ip_address: '203.0.113.5', path: '/' },
      { application_id, count: 1, kind: 'track', rule: 'logins' },
    ])
    const today = new Date(NOON + 25 * MINUTE).toISOString()
    const summary = await perform(requestGuardSummary, context, { days: 7 })
    expect(summary).toMatchObject({
      days: 7,
      total_count: 19,
      by_kind: { throttle: 14, blocklist: 4, track: 1 },
      by_rule: [
        { rule: 'logins', kind: 'throttle', count: 14, last_seen_at: today },
        { rule: 'scrapers', kind: 'blocklist', count: 4, last_seen_at: new Date(NOON).toISOString() },
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

  test('returns zero for every day without events', async () => {
    const context = await runningContext(database)
    const summary = await perform(requestGuardSummary, context, {})
    expect(summary).toMatchObject({ days: 30, total_count: 0, by_rule: [], by_address: [], by_path: [] })
    expect(summary.by_day).toHaveLength(30)
  })

  test('uses days of the configured time zone', async () => {
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

  test('filters by application', async () => {
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

  test('lists only the most frequent names', async () => {
    const context = await runningContext(database)
    const application_id = await addApplication(context, 'shop')
    await store(
      context,
      Array.from({ length: MAX_LISTED_ROWS + 10 }, (_, i) => ({ application_id, path: `/p${i}`, count: i + 1 })),
    )
    const { by_path } = await perform(requestGuardSummary, context, {})
    expect(by_path).toHaveLength(MAX_LISTED_ROWS)
    expect(by_path[0]).toMatchObject({ path: `/p${MAX_LISTED_ROWS + 9}`, count: MAX_LISTED_ROWS + 10 })
  })
})

describeEachDatabase('folding old hours', (database) => {
  test('keeps the most frequent names of each rule and all sums', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const depot = await addApplication(context, 'depot')
    const attack = (application_id: number, hour: number, names = 150) =>
      Array.from({ length: names }, (_, i) => ({
        ...{ application_id, hour, count: i + 1, ip_address: `192.0.2.${i}`, last_seen_at: hour + i },
      }))
    const old = NOON - 8 * DAY
    await store(context, [
      ...attack(shop, old),
      { application_id: shop, hour: old, count: 1000, ip_address: OTHERS, path: OTHERS },
      { application_id: shop, hour: old, count: 3, kind: 'track' },
      { application_id: shop, hour: old, count: 4, environment: 'staging' },
      ...attack(depot, old - HOUR, 22),
      ...attack(shop, NOON - 6 * DAY, 30),
    ])
    const runSummary = (environment?: string) => perform(requestGuardSummary, context, { days: 30, environment })
    const before = await runSummary()
    const staging = await runSummary('staging')
    expect(staging).toMatchObject({ total_count: 4, by_address: [{ count: 4 }] })
    await foldGuardHours(context)
    const { by_address, ...after } = await runSummary()
    expect(after).toMatchObject({ by_kind: before.by_kind, by_day: before.by_day, by_rule: before.by_rule })
    expect(by_address[0]).toMatchObject({ ip_address: OTHERS, count: 1000 + (130 * 131) / 2 + 1 + 2 })
    expect(by_address.find(({ ip_address }) => ip_address === '192.0.2.149')).toMatchObject({ count: 150 })
    expect(await rowsPerHour(context)).toEqual([
      [depot, old - HOUR, 21],
      [shop, old, 23],
      [shop, NOON - 6 * DAY, 30],
    ])
    expect(await runSummary('staging')).toEqual(staging)
    const rows = () => context.database.read.selectFrom('faultboard_request_guard_hours').selectAll().execute()
    const folded = await rows()
    await foldGuardHours(context)
    expect(await rows()).toEqual(folded)
  })
})

async function rowsPerHour({ database: { read } }: Context): Promise<number[][]> {
  const rows = await read
    .selectFrom('faultboard_request_guard_hours')
    .select(({ fn }) => ['application_id', 'hour', fn.countAll<number>().as('count')])
    .groupBy(['application_id', 'hour'])
    .orderBy('hour')
    .execute()
  return rows.map(({ application_id, hour, count }) => [application_id, hour, count])
}

describe('the days of a summary', () => {
  test.each([0, 8, 365, '7.5', 'week', Number.NaN])('accepts 7, 30 or 90 days, not %s', (days) => {
    expect(() => parseInput(daysInput, { days })).toThrow('days must be one of 7, 30, 90')
  })
})
