import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CascadePair,
  CascadeSweep,
  mostFrequentPairs,
  type SweptOccurrence,
} from '../../../src/analytics/cascades/cascade-sweep.js'
import { OCCURRENCES } from '../../../src/store/bulk/bulk-targets.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker, NOON, trackerAt, withDatabase } from '../../support/tracker.js'
import { referenceCascades } from './reference-cascades.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const order = (a: { parent: number; child: number }, b: { parent: number; child: number }) =>
  a.parent - b.parent || a.child - b.child

describe('CascadeSweep', () => {
  test('finds the same pairs as a comparison of all occurrences of a scope', () => {
    const sighting = fc.record({
      application_id: fc.integer({ min: 1, max: 2 }),
      error_id: fc.integer({ min: 1, max: 5 }),
      occurred_at: fc.integer({ min: 0, max: 20 }).map((steps) => steps * 15_000),
    })
    const span = fc.record({
      from: fc.integer({ min: 0, max: 100_000 }),
      to: fc.integer({ min: 100_000, max: 400_000 }),
    })
    fc.assert(
      fc.property(fc.array(sighting, { maxLength: 60 }), span, (some, span) => {
        const all: SweptOccurrence[] = some.map((occurrence) => ({
          ...{ scope: `${occurrence.application_id}`, error_id: occurrence.application_id * 10 + occurrence.error_id },
          occurred_at: occurrence.occurred_at,
        }))
        const sweep = new CascadeSweep(span)
        for (const occurrence of [...all].sort((a, b) => b.occurred_at - a.occurred_at)) sweep.addOccurrence(occurrence)
        const { pairs, parents } = referenceCascades(all, span)
        expect([...sweep.pairs()].sort(order)).toEqual(pairs.sort(order))
        expect(sweep.parents).toEqual(parents)
      }),
    )
  })

  test('keeps the most frequent pairs beyond the limit', () => {
    const pair = fc.integer({ min: 1, max: 9 }).map((followed_count) => ({ followed_count }) as CascadePair)
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (pairs, most) => {
        const counts = (some: readonly CascadePair[]) => some.map((pair) => pair.followed_count).sort((a, b) => b - a)
        expect(counts(mostFrequentPairs(pairs, most))).toEqual(counts(pairs).slice(0, most))
      }),
    )
  })
})

/** Probability divided by the share of time that the child follows within a minute. */
function liftByHand(pair: CascadePair, all: readonly SweptOccurrence[], parents: number, until: number): number {
  const scope = all.find(({ error_id }) => error_id === pair.child)?.scope
  const first = Math.min(
    ...all.filter((occurrence) => occurrence.scope === scope).map((occurrence) => occurrence.occurred_at),
  )
  const times = all
    .filter(({ error_id }) => error_id === pair.child)
    .map(({ occurred_at }) => occurred_at)
    .sort((a, b) => a - b)
  const covered = times.reduce(
    (sum, at, i) => sum + Math.min(MINUTE, (times[i + 1] ?? Number.POSITIVE_INFINITY) - at),
    0,
  )
  return pair.followed_count / parents / (covered / (until + HOUR - (first - (first % HOUR))))
}

describeEachDatabase('CascadeDetector', (database) => {
  const log = (tracker: TrackerInstance, error_type: string, occurred_at: number) =>
    tracker.Commands.LogError.call({ error_type, message: 'm', occurred_at })
  const cascade = async (tracker: TrackerInstance, start: number, times: number) => {
    const logged = []
    for (let i = 0; i < times; i++) {
      const occurred_at = start + i * 10 * MINUTE
      logged.push(log(tracker, 'PoolExhausted', occurred_at), log(tracker, 'OrderFailed', occurred_at + 20_000))
    }
    logged.push(log(tracker, 'PoolExhausted', start + 7 * HOUR))
    await Promise.all(logged)
  }
  const of = async (tracker: TrackerInstance, error_type: string, more: object = {}) => {
    const [error] = await tracker.Queries.ErrorsList.call({ error_type })
    return tracker.Queries.ErrorCascades.call({ error_id: error?.id ?? 0, ...more })
  }

  test('finds errors that follow at least three times within a minute, with their figures', async () => {
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
        counted_since: new Date(NOON - DAY).toISOString(),
      },
    ])
    expect(await of(tracker, 'OrderFailed')).toMatchObject({
      leads_to: [],
      caused_by: [{ error: { error_type: 'PoolExhausted' } }],
    })
    expect((await of(tracker, 'PoolExhausted', { min_probability: 0.8 })).leads_to).toHaveLength(1)
    expect((await of(tracker, 'PoolExhausted', { min_probability: 0.81 })).leads_to).toEqual([])
  })

  test('does not pair errors of different environments', async () => {
    const { tracker } = await freshTracker(database)
    const logged = []
    for (let i = 0; i < 5; i++) {
      for (const [error_type, environment, delay] of [
        ['PoolExhausted', 'production', 0],
        ['OrderFailed', 'production', 20_000],
        ['OrderFailed', 'staging', 30_000],
      ] as const) {
        const occurred_at = NOON - 10 * HOUR + i * 10 * MINUTE + delay
        logged.push(tracker.Commands.LogError.call({ error_type, environment, message: 'm', occurred_at }))
      }
    }
    await Promise.all(logged)
    await tracker.Services.CascadeDetector.call({ lookback_hours: 24 })
    const [followed] = await tracker.Queries.ErrorsList.call({ error_type: 'OrderFailed', environment: 'production' })
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([
      { error: { id: followed?.id }, followed_count: 5 },
    ])
  })

  test('matches the reference for random hours of two applications across runs with late occurrences', async () => {
    const { tracker, clock, ...storage } = await freshTracker(database)
    const other = trackerAt(storage, { application_name: 'other' })
    const occurrence = fc.record({
      application_id: fc.integer({ min: 1, max: 2 }),
      error_id: fc.integer({ min: 1, max: 4 }),
      occurred_at: fc.integer({ min: 0, max: 5 * 60 }).map((steps) => NOON - 6 * HOUR + steps * MINUTE),
      second: fc.integer({ min: 0, max: 59 }),
      part: fc.integer({ min: 0, max: 2 }),
    })
    const occurrences =
      fc.sample(fc.array(occurrence, { minLength: 240, maxLength: 240 }), { numRuns: 1, seed: 3 })[0] ?? []
    const all: SweptOccurrence[] = []
    const names = new Map<number, number>()
    for (const [part, until] of [NOON - 4 * HOUR, NOON - 2 * HOUR, NOON].entries()) {
      for (const clocked of [clock, other.clock]) clocked.now = until
      const some = occurrences.filter((clocked) => clocked.part === part && clocked.occurred_at < until - 2 * MINUTE)
      await Promise.all(
        some.map(async ({ application_id, error_id, occurred_at, second }) => {
          const at = occurred_at + second * 1000
          const target = application_id === 1 ? tracker : other.tracker
          const logged = await log(target, `Type${'ABCD'.charAt(error_id - 1)}`, at)
          names.set(application_id * 10 + error_id, logged?.id ?? 0)
          all.push({ scope: `${application_id}`, error_id: application_id * 10 + error_id, occurred_at: at })
        }),
      )
      await tracker.Services.CascadeDetector.call({ lookback_hours: 24 })
      const { pairs, parents } = referenceCascades(all, { from: 0, to: NOON })
      const expected = pairs
        .filter((pair) => pair.followed_count >= 3 && liftByHand(pair, all, parents.get(pair.parent) ?? 0, until) >= 2)
        .map((pair) => [
          names.get(pair.parent),
          names.get(pair.child),
          pair.followed_count,
          parents.get(pair.parent),
          Math.round(pair.delay_ms / pair.followed_count),
        ])
      const found = await withDatabase(storage.url, ({ read }) =>
        read.selectFrom('faultboard_cascades').selectAll().execute(),
      )
      const rows = found.map((row) => [
        row.parent_error_id,
        row.child_error_id,
        row.followed_count,
        row.parent_count,
        row.average_delay_ms,
      ])
      const byIds = (a: (number | undefined)[], b: (number | undefined)[]) =>
        (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0)
      expect(rows.sort(byIds)).toEqual(expected.sort(byIds))
      if (part === 2) expect(rows.length).toBeGreaterThan(2)
    }
  })

  test('excludes a frequent error that follows every other error by chance', async () => {
    const { tracker } = await freshTracker(database)
    const start = NOON - 2 * HOUR
    const logged = []
    for (let at = start; at < NOON; at += 50_000) logged.push(log(tracker, 'Noise', at))
    for (let i = 0; i < 12; i++) {
      const at = start + i * 9 * MINUTE + 7_000
      logged.push(log(tracker, 'DbDown', at))
      if (i < 8) logged.push(log(tracker, 'Checkout', at + 5_000))
    }
    await Promise.all(logged)
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 1, updated: 0 })
    const { leads_to } = await of(tracker, 'DbDown', { min_probability: 0 })
    expect(leads_to).toMatchObject([{ error: { error_type: 'Checkout' }, followed_count: 8, parent_count: 12 }])
    // Eight minutes of the three hours since the first record.
    expect(leads_to[0]?.expected_probability).toBeCloseTo(8 / (3 * 60), 5)
    expect(leads_to[0]?.lift).toBeCloseTo((8 / 12) * ((3 * 60) / 8), 5)
    expect(await of(tracker, 'Noise', { min_probability: 0 })).toEqual({ leads_to: [], caused_by: [] })
    const { cascades } = await tracker.Queries.ErrorAnalytics.call()
    expect(cascades.map(({ child }) => child.error_type)).toEqual(['Checkout'])
  })

  test('finds a parent that is followed by a burst of children every hour', async () => {
    const { tracker } = await freshTracker(database)
    const logged = []
    for (let hour = 1; hour <= 6; hour++) {
      const at = NOON - hour * HOUR + 10 * MINUTE
      logged.push(log(tracker, 'DbDown', at))
      for (let i = 1; i <= 20; i++) logged.push(log(tracker, 'Checkout', at + i * 2000))
    }
    await Promise.all(logged)
    await tracker.Services.CascadeDetector.call()
    const { leads_to } = await of(tracker, 'DbDown')
    expect(leads_to).toMatchObject([{ error: { error_type: 'Checkout' }, followed_count: 6, parent_count: 6 }])
    // Each burst lasts 38 seconds and is followed by the rest of its last window.
    expect(leads_to[0]?.expected_probability).toBeCloseTo((6 * (19 * 2000 + MINUTE)) / (7 * HOUR), 5)
    expect((await of(tracker, 'Checkout')).leads_to).toEqual([])
  })

  test('reads every occurrence once across repeated runs and any lookback', async () => {
    const { tracker, clock } = await freshTracker(database)
    const start = NOON - 10 * HOUR
    await cascade(tracker, start, 4)
    clock.now = start + 15 * MINUTE
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 1 })).toEqual({ detected: 0, updated: 0 })
    clock.now = start + 9 * HOUR
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 2 })).toEqual({ detected: 1, updated: 0 })
    clock.now = NOON
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 48 })).toEqual({ detected: 0, updated: 1 })
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([{ followed_count: 4, parent_count: 5 }])
    // After a pause of more than a week, earlier hours are processed again when a lookback requests them.
    clock.now = NOON + 9 * DAY
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 1 })).toEqual({ detected: 0, updated: 0 })
    expect(await tracker.Services.CascadeDetector.call({ lookback_hours: 12 * 24 })).toEqual({
      detected: 1,
      updated: 0,
    })
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([{ followed_count: 4, parent_count: 5 }])
  })

  test('processes hours with more occurrences than one query reads', async () => {
    const { tracker, url } = await freshTracker(database)
    // Needs a day of history, because within the two busy hours alone the child follows by chance.
    await log(tracker, 'Earlier', NOON - DAY)
    const [parent, child] = [await log(tracker, 'Parent', NOON), await log(tracker, 'Child', NOON)]
    const rows = Array.from({ length: 1600 }, (_, i) => [parent, child].map((error, j) => [error?.id ?? 0, i * 4 + j]))
    await withDatabase(url, ({ read, dialect }) =>
      dialect.insertMany(
        read,
        OCCURRENCES,
        rows
          .flat()
          .map(([id = 0, second = 0]) => [
            ...[id, 1, NOON - 3 * HOUR + second * 1000, null, 'Web'],
            ...new Array<null>(7).fill(null),
          ]),
      ),
    )
    await tracker.Services.CascadeDetector.call()
    expect((await of(tracker, 'Parent')).leads_to).toMatchObject([
      { followed_count: 1600, parent_count: 1600, average_delay_ms: 1000 },
    ])
  })

  test('counts a parent once its minute has passed, and requires three repetitions', async () => {
    const { tracker, clock } = await freshTracker(database)
    await cascade(tracker, NOON - 10 * HOUR, 2)
    const last = NOON - 30_000
    await log(tracker, 'PoolExhausted', last)
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 0, updated: 0 })
    await log(tracker, 'OrderFailed', last + 20_000)
    clock.now = NOON + 2 * MINUTE
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 1, updated: 0 })
  })

  test('removes an outdated cascade and keeps the figures of the week after a short lookback', async () => {
    const { tracker, clock } = await freshTracker(database)
    const week = { lookback_hours: 7 * 24 }
    await cascade(tracker, NOON - 10 * HOUR, 4)
    await tracker.Services.CascadeDetector.call(week)
    clock.now = NOON + HOUR
    await tracker.Services.CascadeDetector.call({ lookback_hours: 1 })
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([{ followed_count: 4, parent_count: 5 }])
    await log(tracker, 'PoolExhausted', NOON + DAY)
    clock.now = NOON + 2 * DAY
    expect(await tracker.Services.CascadeDetector.call(week)).toEqual({ detected: 0, updated: 1 })
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([{ followed_count: 4, parent_count: 6 }])
    clock.now = NOON + 8 * DAY
    expect(await tracker.Services.CascadeDetector.call(week)).toEqual({ detected: 0, updated: 0 })
    expect((await of(tracker, 'PoolExhausted', { min_probability: 0 })).leads_to).toEqual([])
  })

  test('counts late occurrences of processed hours exactly once', async () => {
    const { tracker, clock } = await freshTracker(database)
    await log(tracker, 'PoolExhausted', NOON - 10 * HOUR)
    await log(tracker, 'OrderFailed', NOON - 10 * HOUR + 20_000)
    await tracker.Services.CascadeDetector.call()
    await cascade(tracker, NOON - 9 * HOUR, 4)
    clock.now = NOON + HOUR
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 1, updated: 0 })
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([{ followed_count: 5, parent_count: 6 }])
    clock.now = NOON + 2 * HOUR
    await tracker.Services.CascadeDetector.call()
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([{ followed_count: 5, parent_count: 6 }])
  })

  test('counts nothing twice when two processes detect concurrently', async () => {
    const { tracker } = await freshTracker(database)
    await cascade(tracker, NOON - 10 * HOUR, 4)
    await Promise.all([1, 2, 3].map(() => tracker.Services.CascadeDetector.call({ lookback_hours: 24 })))
    expect((await of(tracker, 'PoolExhausted')).leads_to).toMatchObject([{ followed_count: 4, parent_count: 5 }])
  })

  test('does not report a cascade across applications', async () => {
    const { tracker, ...storage } = await freshTracker(database)
    const other = trackerAt(storage, { application_name: 'other' }).tracker
    for (let i = 1; i < 5; i++) {
      await log(tracker, 'PoolExhausted', NOON - i * HOUR)
      await log(other, 'OrderFailed', NOON - i * HOUR + 20_000)
    }
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 0, updated: 0 })
    const [error] = await tracker.Queries.ErrorsList.call({ error_type: 'PoolExhausted' })
    const { id = 0, application_id = 0 } = error ?? {}
    await expect(
      tracker.Queries.ErrorCascades.call({ error_id: id, application_id: application_id + 1 }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  test('deletes the cascades of a deleted error and rejects an unknown error', async () => {
    const { tracker } = await freshTracker(database)
    await cascade(tracker, NOON - 10 * HOUR, 4)
    await tracker.Services.CascadeDetector.call()
    const [child] = await tracker.Queries.ErrorsList.call({ error_type: 'OrderFailed' })
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [child?.id ?? 0] })
    expect((await of(tracker, 'PoolExhausted')).leads_to).toEqual([])
    expect(await tracker.Services.CascadeDetector.call()).toEqual({ detected: 0, updated: 0 })
    await expect(tracker.Queries.ErrorCascades.call({ error_id: child?.id ?? 0 })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
