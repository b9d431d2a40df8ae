import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Sighting, sweep } from '../../src/analytics/cascade-sweep.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON } from '../support/tracker.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** The same, asked of every pair of occurrences. */
function byHand(all: readonly Sighting[]) {
  const ids = [...new Set(all.map(({ error_id }) => error_id))]
  const times = (id: number) => all.filter(({ error_id }) => error_id === id).map(({ occurred_at }) => occurred_at)
  return ids.flatMap((parent) =>
    ids
      .filter((child) => child !== parent)
      .flatMap((child) => {
        const delays = times(parent).flatMap((at) => {
          const after = times(child)
            .map((time) => time - at)
            .filter((delay) => delay > 0 && delay <= MINUTE)
          return after.length === 0 ? [] : [Math.min(...after)]
        })
        return delays.length === 0
          ? []
          : [{ parent, child, followed_count: delays.length, delay_ms: delays.reduce((sum, one) => sum + one, 0) }]
      }),
  )
}

const order = (a: { parent: number; child: number }, b: { parent: number; child: number }) =>
  a.parent - b.parent || a.child - b.child

describe('what followed what', () => {
  test('is found as by looking at every pair', () => {
    const sighting = fc.record({
      error_id: fc.integer({ min: 1, max: 5 }),
      occurred_at: fc.integer({ min: 0, max: 20 }).map((steps) => steps * 15_000),
    })
    fc.assert(
      fc.property(fc.array(sighting, { maxLength: 60 }), (all) => {
        const sorted = [...all].sort((a, b) => a.occurred_at - b.occurred_at)
        const { pairs, parents } = sweep(sorted, 0, Number.POSITIVE_INFINITY)
        expect([...pairs].sort(order)).toEqual(byHand(sorted).sort(order))
        for (const [id, count] of parents) expect(count).toBe(all.filter(({ error_id }) => error_id === id).length)
      }),
    )
  })
})

describeEachDatabase('CascadeDetector', (database) => {
  const cascade = async (
    tracker: Awaited<ReturnType<typeof freshTracker>>['tracker'],
    start: number,
    times: number,
  ) => {
    const { Commands } = tracker
    for (let i = 0; i < times; i++) {
      const occurred_at = start + i * 10 * MINUTE
      await Commands.LogError.call({ error_type: 'PoolExhausted', message: 'm', occurred_at })
      await Commands.LogError.call({ error_type: 'OrderFailed', message: 'm', occurred_at: occurred_at + 20_000 })
    }
    await Commands.LogError.call({ error_type: 'PoolExhausted', message: 'm', occurred_at: start + 7 * HOUR })
  }
  const of = async (tracker: Awaited<ReturnType<typeof freshTracker>>['tracker'], error_type: string) => {
    const [error] = await tracker.Queries.ErrorsList.call({ error_type })
    return tracker.Queries.ErrorCascades.call({ error_id: error?.id ?? 0 })
  }

  test('finds what follows at least three times within a minute, with its evidence', async () => {
    const { tracker } = await freshTracker(database)
    await cascade(tracker, NOON - 10 * HOUR, 4)
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 24 })).toEqual({ detected: 1, updated: 0 })
    const { leads_to, caused_by } = await of(tracker, 'PoolExhausted')
    expect(caused_by).toEqual([])
    expect(leads_to).toMatchObject([
      {
        error: { error_type: 'OrderFailed' },
        followed_count: 4,
        parent_count: 5,
        probability: 0.8,
        average_delay_ms: 20_000,
      },
    ])
    expect(await of(tracker, 'OrderFailed')).toMatchObject({
      leads_to: [],
      caused_by: [{ error: { error_type: 'PoolExhausted' } }],
    })
  })

  test('looks at every occurrence once, however often and however far back it is asked', async () => {
    const { tracker, clock } = await freshTracker(database)
    const start = NOON - 10 * HOUR
    await cascade(tracker, start, 4)
    clock.now = start + 15 * MINUTE
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 1 })).toEqual({ detected: 0, updated: 0 })
    clock.now = start + 9 * HOUR
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 2 })).toEqual({ detected: 0, updated: 0 })
    clock.now = NOON
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 48 })).toEqual({ detected: 1, updated: 0 })
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 48 })).toEqual({ detected: 0, updated: 1 })
    const { leads_to } = await of(tracker, 'PoolExhausted')
    expect(leads_to).toMatchObject([{ followed_count: 4, parent_count: 5 }])
  })

  test('counts a parent when its minute is over, and twice is not enough', async () => {
    const { tracker, clock } = await freshTracker(database)
    await cascade(tracker, NOON - 10 * HOUR, 2)
    const last = NOON - 30_000
    await tracker.Commands.LogError.call({ error_type: 'PoolExhausted', message: 'm', occurred_at: last })
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 0, updated: 0 })
    await tracker.Commands.LogError.call({ error_type: 'OrderFailed', message: 'm', occurred_at: last + 20_000 })
    clock.now = NOON + 2 * MINUTE
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 1, updated: 0 })
  })

  test('two processes that detect at once count nothing twice', async () => {
    const { tracker } = await freshTracker(database)
    await cascade(tracker, NOON - 10 * HOUR, 4)
    await Promise.all([1, 2, 3].map(() => tracker.Services.CascadeDetector.call({ lookback_hours: 24 })))
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([{ followed_count: 4, parent_count: 5 }])
  })

  test('deleting an error deletes what it leads to', async () => {
    const { tracker } = await freshTracker(database)
    await cascade(tracker, NOON - 10 * HOUR, 4)
    await tracker.Services.CascadeDetector.call()
    const [child] = await tracker.Queries.ErrorsList.call({ error_type: 'OrderFailed' })
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [child?.id ?? 0] })
    expect((await of(tracker, 'PoolExhausted')).leads_to).toEqual([])
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 0, updated: 0 })
  })
})
