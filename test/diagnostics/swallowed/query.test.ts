import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/context.js'
import { swallowedExceptionsSupport } from '../../../src/diagnostics/swallowed/detection/detection.js'
import { MAX_LOCATIONS, swallowedExceptions } from '../../../src/diagnostics/swallowed/query.js'
import { DAY, HOUR } from '../../../src/model/time.js'
import { perform } from '../../../src/operation.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addApplication, runningContext } from '../running.js'

interface StoredSum {
  application_id: number
  type?: string
  environment?: string
  raised_at?: string
  rescued_at?: string
  kind?: string
  hour?: number
  raised?: number
  rescued?: number
  reported?: number
}

async function store({ database }: Context, sums: readonly StoredSum[]): Promise<void> {
  for (const sum of sums) {
    const { type = 'TypeError', raised_at = 'src/cart.ts:10', rescued_at = '', hour = NOON } = sum
    const digest = createHash('sha256')
      .update(JSON.stringify([sum.environment, type, raised_at, rescued_at]))
      .digest('hex')
    await database.read
      .insertInto('faultboard_swallowed_exceptions')
      .values({
        application_id: sum.application_id,
        environment: sum.environment ?? 'production',
        hour,
        location_digest: digest,
        error_type: type,
        raise_location: raised_at,
        rescue_location: rescued_at,
        handler_kind: sum.kind ?? '',
        raise_count: sum.raised ?? 0,
        rescue_count: sum.rescued ?? 0,
        // Earlier versions stored null.
        reported_count: sum.reported ?? null,
      })
      .execute()
  }
}

describeEachDatabase('the swallowed-exceptions query', (database) => {
  test('sums hours per location and lists the handlers', async () => {
    const context = await runningContext(database)
    const application_id = await addApplication(context, 'shop')
    await store(context, [
      { application_id, raised: 60, reported: 1 },
      { application_id, raised: 40, hour: NOON - HOUR },
      { application_id, rescued_at: 'src/pay.ts:7', kind: 'empty', rescued: 30 },
      { application_id, rescued_at: 'src/pay.ts:7', kind: 'empty', rescued: 30, hour: NOON - HOUR },
      { application_id, rescued_at: 'src/pay.ts:90', kind: 'logs', rescued: 38, hour: NOON - 3 * HOUR },
    ])
    expect(await perform(swallowedExceptions, context, {})).toEqual({
      days: 30,
      threshold: 0.95,
      runtime: { supported: true, reason: null },
      is_counting: false,
      watched_files: 0,
      totals: { locations: 1, raise_count: 100, rescue_count: 98, reported_count: 1, unaccounted_count: 1 },
      total_count: 1,
      locations: [
        {
          error_type: 'TypeError',
          raise_location: 'src/cart.ts:10',
          raise_count: 100,
          rescue_count: 98,
          reported_count: 1,
          unaccounted_count: 1,
          rescue_ratio: 0.98,
          last_seen_at: new Date(NOON).toISOString(),
          handlers: [
            { rescue_location: 'src/pay.ts:7', handler_kind: 'empty', rescue_count: 60 },
            { rescue_location: 'src/pay.ts:90', handler_kind: 'logs', rescue_count: 38 },
          ],
        },
      ],
    })
  })

  test('lists a location only when its ratio exceeds the threshold', async () => {
    const context = await runningContext(database, { swallowed_exception_threshold: 0.9 })
    const application_id = await addApplication(context, 'shop')
    for (const [location, raised, rescued] of [
      ['reaches', 10, 9],
      ['reaches-too', 70, 63],
      ['exceeds', 11, 10],
      ['never', 500, 0],
      ['rescued-in-the-next-hour', 0, 2],
    ] as const) {
      await store(context, [{ application_id, raised_at: location, raised, rescued }])
    }
    const { locations } = await perform(swallowedExceptions, context, {})
    expect(locations.map(({ raise_location, rescue_ratio }) => [raise_location, rescue_ratio])).toEqual([
      ['exceeds', 10 / 11],
      ['rescued-in-the-next-hour', 1],
    ])
  })

  test('lists nothing at threshold 1 and every rescue at threshold 0', async () => {
    const all = await runningContext(database, { swallowed_exception_threshold: 0 })
    const none = await runningContext(database, { swallowed_exception_threshold: 1 })
    for (const context of [all, none]) {
      const application_id = await addApplication(context, 'shop')
      await store(context, [
        { application_id, raised_at: 'always', raised: 5, rescued: 5 },
        { application_id, raised_at: 'once', raised: 500, rescued: 1 },
        { application_id, raised_at: 'never', raised: 5 },
      ])
    }
    expect((await perform(swallowedExceptions, all, {})).total_count).toBe(2)
    expect((await perform(swallowedExceptions, none, {})).total_count).toBe(0)
  })

  test('covers the given number of local days, including today', async () => {
    const context = await runningContext(database)
    const application_id = await addApplication(context, 'shop')
    const midnight = NOON - 12 * HOUR
    for (const back of [0, 6, 7, 29, 30, 89, 90]) {
      await store(context, [
        { application_id, raised_at: `${back} days ago`, raised: 1, rescued: 1, hour: midnight - back * DAY },
      ])
    }
    const found = async (days: number) =>
      (await perform(swallowedExceptions, context, { days })).locations.map(({ raise_location }) =>
        Number.parseInt(raise_location, 10),
      )
    expect((await found(7)).sort((a, b) => a - b)).toEqual([0, 6])
    expect((await found(30)).sort((a, b) => a - b)).toEqual([0, 6, 7, 29])
    expect((await found(90)).sort((a, b) => a - b)).toEqual([0, 6, 7, 29, 30, 89])
  })

  test('separates error types and filters by application', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const depot = await addApplication(context, 'depot')
    await store(context, [
      { application_id: shop, type: 'TypeError', raised: 3, rescued: 3 },
      { application_id: shop, type: 'typeerror', raised: 2, rescued: 2 },
      { application_id: depot, type: 'TypeError', raised: 4, rescued: 4 },
    ])
    const counts = async (application_id?: number) =>
      (await perform(swallowedExceptions, context, { application_id })).locations.map(
        ({ error_type, rescue_count }) => [error_type, rescue_count],
      )
    expect(await counts()).toEqual([
      ['TypeError', 7],
      ['typeerror', 2],
    ])
    expect(await counts(shop)).toEqual([
      ['TypeError', 3],
      ['typeerror', 2],
    ])
    expect(await counts(depot)).toEqual([['TypeError', 4]])
  })

  test('lists the top locations and returns the total count', async () => {
    const context = await runningContext(database)
    const application_id = await addApplication(context, 'shop')
    const amount = MAX_LOCATIONS + 5
    await store(
      context,
      Array.from({ length: amount }, (_, i) => ({ application_id, raised_at: `p${i}`, raised: i + 1, rescued: i + 1 })),
    )
    const { locations, total_count } = await perform(swallowedExceptions, context, {})
    expect(total_count).toBe(amount)
    expect(locations).toHaveLength(MAX_LOCATIONS)
    expect(locations[0]).toMatchObject({ raise_location: `p${amount - 1}`, rescue_count: amount })
  })
})

describe('the runtime check', () => {
  test('names a runtime without module hooks in the reason', () => {
    const support = swallowedExceptionsSupport({ name: 'Node.js', version: '18.20.0', hasModuleHooks: false })
    expect(support).toEqual({ supported: false, reason: expect.stringContaining('Node.js 18.20.0') })
  })

  test('accepts the current runtime', () => {
    expect(swallowedExceptionsSupport()).toEqual({ supported: true, reason: null })
  })
})
