import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { meetingProbability } from '../../src/analytics/cascades/expected-probability.js'
import { coOccurringErrors } from '../../src/analytics/co-occurring-errors.js'
import { perform } from '../../src/operation.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshPlace } from '../support/tracker.js'
import { distinct, type Event, hourOf } from './oracle.js'
import { logged, NOW } from './random-events.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('the chance of meeting an error', () => {
  const week = { from: 0, to: 168 * HOUR, window: 5 * MINUTE }

  test('follows from how many hours it fills, not from how often it occurs in them', () => {
    const storm = new Map([[10 * HOUR, 1_000_000]])
    expect(meetingProbability(storm, week)).toBeCloseTo(1 / 168, 10)
    const steady = new Map(Array.from({ length: 168 }, (_, hour) => [hour * HOUR, 1000]))
    expect(meetingProbability(steady, week)).toBeCloseTo(1, 10)
    const once = new Map([[10 * HOUR, 1]])
    expect(meetingProbability(once, week)).toBeCloseTo((1 - Math.exp(-1 / 6)) / 168, 10)
  })

  test('is never nothing, and counts the hours beside where the window reaches them', () => {
    expect(meetingProbability(new Map(), week)).toBe(meetingProbability(new Map([[0, 1]]), week))
    // From the middle of an hour, a window of an hour reaches half of the next.
    const wide = meetingProbability(new Map([[HOUR, 2]]), { from: 0, to: 3 * HOUR, window: HOUR })
    expect(wide).toBeCloseTo((1 - Math.exp(-1) + 1 - Math.exp(-2) + 1 - Math.exp(-1)) / 3, 10)
  })
})

describeEachDatabase('co-occurring errors', (database) => {
  test('stand by how far they are beyond chance, not by how often they happen', async () => {
    const at = Array.from({ length: 6 }, (_, i) => NOW - DAY + i * 3 * HOUR)
    const { context, application_id } = await logged(
      await freshPlace(database),
      [
        ...at.map((time) => event('Subject', time)),
        // Met by four of six, and nowhere else.
        ...at.slice(2).map((time) => event('Companion', time + 2 * MINUTE)),
        // Met by all, as by everything else.
        ...Array.from({ length: 4 * 7 * 24 }, (_, i) => event('Always', NOW - i * 15 * MINUTE - 1000)).flatMap(
          (one) => [one, { ...one, occurred_at: one.occurred_at - 7 * MINUTE }],
        ),
        // Met once: too seldom to stand before the others, however rare it is.
        event('Once', at[0] ?? 0),
      ],
      'UTC',
    )
    const error_id = await idOf(context, 'Subject', application_id)
    const found = await perform(coOccurringErrors, context, { error_id, application_id, window_minutes: 5 })
    expect(found.map(({ error, together_count }) => [error.error_type, together_count])).toEqual([
      ['Companion', 4],
      ['Always', 6],
      ['Once', 1],
    ])
    expect(found[0]?.lift).toBeGreaterThan(50)
    expect(found[1]?.lift).toBeGreaterThan(0.9)
    expect(found[1]?.lift).toBeLessThan(1.5)
    const closer = await perform(coOccurringErrors, context, { error_id, application_id, window_minutes: 1 })
    expect(closer.some(({ error }) => error.error_type === 'Companion')).toBe(false)
  })

  test('are counted and held against chance as one does event by event', async () => {
    const place = await freshPlace(database)
    const some = fc.array(
      fc.record({
        kind: fc.constantFrom('Subject', 'Aaa', 'Bbb', 'Ccc'),
        minute: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 10 * 24 * 60 })),
      }),
      { minLength: 1, maxLength: 80, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(some, fc.constantFrom(1, 5, 45), async (drawn, minutes) => {
        const events = drawn.map(({ kind, minute }) => event(kind, NOW - minute * MINUTE))
        const { context, application_id } = await logged(place, events, 'UTC')
        const own = events.filter(({ error_type }) => error_type === 'Subject')
        if (own.length === 0) return
        const error_id = await idOf(context, 'Subject', application_id)
        const found = await perform(coOccurringErrors, context, { error_id, application_id, window_minutes: minutes })
        const wanted = distinct(events, ({ error_type }) => error_type).flatMap((kind) => {
          const others = events.filter(({ error_type }) => error_type === kind)
          const near = own.filter((one) => others.some((other) => isNear(one, other, minutes)))
          if (kind === 'Subject' || near.length === 0) return []
          const share = near.length / own.length
          const expected = chanceByHand(events, others, Math.max(...own.map(timeOf)), minutes * MINUTE)
          const moments = momentsByHand(near.map(timeOf), minutes * MINUTE)
          return [{ kind, count: near.length, moments, share, expected, lift: share / expected }]
        })
        expect(new Map(found.map((one) => [one.error.error_type, one]))).toEqual(
          new Map(
            wanted.map(({ kind, count, moments, share, expected, lift }) => [
              kind,
              expect.objectContaining({
                together_count: count,
                moment_count: moments,
                checked_count: own.length,
                share,
                expected_share: expect.closeTo(expected, 10),
                lift: expect.closeTo(lift, 6),
              }),
            ]),
          ),
        )
        const often = found.filter(({ together_count }) => together_count >= Math.min(2, own.length))
        expect(often).toEqual(often.toSorted((a, b) => b.lift - a.lift))
        expect(found.slice(0, often.length)).toEqual(often)
      }),
      { numRuns: 6 },
    )
  }, 120_000)

  test('are found however much another application does at the same time', async () => {
    const place = await freshPlace(database)
    const { context, application_id } = await logged(
      place,
      [0, 1, 2].flatMap((i) => [event('Subject', NOW - i * HOUR), event('Companion', NOW - i * HOUR - 4 * MINUTE)]),
      'UTC',
    )
    const error_id = await idOf(context, 'Subject', application_id)
    const noise = Array.from({ length: 250 }, (_, i) => event('Noise', NOW - 4 * MINUTE - 1 - i))
    await logged(place, noise, 'UTC')
    const found = await perform(coOccurringErrors, context, { error_id, application_id, newest: 1 })
    expect(found).toMatchObject([{ error: { error_type: 'Companion' }, together_count: 1 }])
  })
})

/** Hour by hour: how much of a window around its middle the occurrences are expected to fall into. */
function chanceByHand(events: readonly Event[], others: readonly Event[], newest: number, window: number): number {
  const to = hourOf(newest) + HOUR
  const first = hourOf(Math.min(...events.map(timeOf)))
  const hours: number[] = []
  for (let hour = to - HOUR; hour >= Math.max(first, to - 7 * DAY); hour -= HOUR) hours.push(hour)
  const chances = hours.map((hour) => {
    const [begin, end] = [hour + HOUR / 2 - window, hour + HOUR / 2 + window]
    const expected = others.map((other) => {
      const own = hourOf(other.occurred_at)
      return Math.max(0, Math.min(end, own + HOUR) - Math.max(begin, own)) / HOUR
    })
    return 1 - Math.exp(-expected.reduce((sum, part) => sum + part, 0))
  })
  const mean = chances.reduce((sum, chance) => sum + chance, 0) / hours.length
  return Math.max(mean, (1 - Math.exp(-Math.min(1, (2 * window) / HOUR))) / hours.length)
}

function momentsByHand(times: readonly number[], window: number): number {
  if (times.length === 0) return 0
  const first = Math.min(...times)
  return (
    1 +
    momentsByHand(
      times.filter((time) => time > first + window),
      window,
    )
  )
}

function isNear(one: Event, other: Event, minutes: number): boolean {
  return Math.abs(one.occurred_at - other.occurred_at) <= minutes * MINUTE
}

function timeOf({ occurred_at }: Event): number {
  return occurred_at
}

async function idOf({ database }: Awaited<ReturnType<typeof logged>>['context'], type: string, application_id: number) {
  const { id } = await database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('error_type', '=', type)
    .where('application_id', '=', application_id)
    .executeTakeFirstOrThrow()
  return id
}

function event(error_type: string, occurred_at: number): Event {
  const rest = { message: 'alpha', file: 'cart', platform: 'Web', app_version: '1.0.0', severity: 'low' } as const
  return { error_type, user_id: null, occurred_at, ...rest }
}
