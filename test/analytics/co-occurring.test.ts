import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectedProbability } from '../../src/analytics/cascades/expected-probability.js'
import { coOccurringErrors } from '../../src/analytics/co-occurring-errors.js'
import { perform } from '../../src/operation.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshStorage } from '../support/tracker.js'
import { NOW, recordOccurrences } from './random-occurrences.js'
import { distinct, hourOf, type TestOccurrence } from './reference-statistics.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('the expected share of an error', () => {
  const week = { from: 0, to: 168 * HOUR, window: 5 * MINUTE }

  test('the expected share of an error depends on the number of hours with occurrences, not on their counts', () => {
    const storm = new Map([[10 * HOUR, 1_000_000]])
    expect(expectedProbability(storm, week)).toBeCloseTo(1 / 168, 10)
    const steady = new Map(Array.from({ length: 168 }, (_, hour) => [hour * HOUR, 1000]))
    expect(expectedProbability(steady, week)).toBeCloseTo(1, 10)
    const once = new Map([[10 * HOUR, 1]])
    expect(expectedProbability(once, week)).toBeCloseTo((1 - Math.exp(-1 / 6)) / 168, 10)
  })

  test('the expected share of an error is never zero and includes adjacent hours within the window', () => {
    expect(expectedProbability(new Map(), week)).toBe(expectedProbability(new Map([[0, 1]]), week))
    // A window of one hour around the middle of an hour covers half of the next hour.
    const wide = expectedProbability(new Map([[HOUR, 2]]), { from: 0, to: 3 * HOUR, window: HOUR })
    expect(wide).toBeCloseTo((1 - Math.exp(-1) + 1 - Math.exp(-2) + 1 - Math.exp(-1)) / 3, 10)
  })
})

describeEachDatabase('co-occurring errors', (database) => {
  test('co-occurring errors are ranked by lift, not by frequency', async () => {
    const at = Array.from({ length: 6 }, (_, i) => NOW - DAY + i * 3 * HOUR)
    const { context, application_id } = await recordOccurrences(
      await freshStorage(database),
      [
        ...at.map((time) => occurrence('Subject', time)),
        // Near four of six occurrences, and nowhere else.
        ...at.slice(2).map((time) => occurrence('Companion', time + 2 * MINUTE)),
        // Near all occurrences, like every other error.
        ...Array.from({ length: 4 * 7 * 24 }, (_, i) => occurrence('Always', NOW - i * 15 * MINUTE - 1000)).flatMap(
          (occurrence) => [occurrence, { ...occurrence, occurred_at: occurrence.occurred_at - 7 * MINUTE }],
        ),
        // Near one occurrence, which is not enough to rank before the other errors.
        occurrence('Once', at[0] ?? 0),
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

  test('co-occurring errors match the reference counts and expected shares', async () => {
    const storage = await freshStorage(database)
    const some = fc.array(
      fc.record({
        kind: fc.constantFrom('Subject', 'Aaa', 'Bbb', 'Ccc'),
        minute: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 10 * 24 * 60 })),
      }),
      { minLength: 1, maxLength: 80, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(some, fc.constantFrom(1, 5, 45), async (samples, minutes) => {
        const occurrences = samples.map(({ kind, minute }) => occurrence(kind, NOW - minute * MINUTE))
        const { context, application_id } = await recordOccurrences(storage, occurrences, 'UTC')
        const own = occurrences.filter(({ error_type }) => error_type === 'Subject')
        if (own.length === 0) return
        const error_id = await idOf(context, 'Subject', application_id)
        const found = await perform(coOccurringErrors, context, { error_id, application_id, window_minutes: minutes })
        const wanted = distinct(occurrences, ({ error_type }) => error_type).flatMap((kind) => {
          const others = occurrences.filter(({ error_type }) => error_type === kind)
          const near = own.filter((occurrence) => others.some((other) => isNear(occurrence, other, minutes)))
          if (kind === 'Subject' || near.length === 0) return []
          const share = near.length / own.length
          const expected = referenceShare(occurrences, others, Math.max(...own.map(timeOf)), minutes * MINUTE)
          const moments = momentsByHand(near.map(timeOf), minutes * MINUTE)
          return [{ kind, count: near.length, moments, share, expected, lift: share / expected }]
        })
        expect(new Map(found.map((pair) => [pair.error.error_type, pair]))).toEqual(
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

  test('co-occurring errors are found despite many occurrences of another application', async () => {
    const storage = await freshStorage(database)
    const { context, application_id } = await recordOccurrences(
      storage,
      [0, 1, 2].flatMap((i) => [
        occurrence('Subject', NOW - i * HOUR),
        occurrence('Companion', NOW - i * HOUR - 4 * MINUTE),
      ]),
      'UTC',
    )
    const error_id = await idOf(context, 'Subject', application_id)
    const noise = Array.from({ length: 250 }, (_, i) => occurrence('Noise', NOW - 4 * MINUTE - 1 - i))
    await recordOccurrences(storage, noise, 'UTC')
    const found = await perform(coOccurringErrors, context, { error_id, application_id, newest: 1 })
    expect(found).toMatchObject([{ error: { error_type: 'Companion' }, together_count: 1 }])
  })
})

/** Reference: probability per hour that an occurrence falls into the window around its middle. */
function referenceShare(
  occurrences: readonly TestOccurrence[],
  others: readonly TestOccurrence[],
  newest: number,
  window: number,
): number {
  const to = hourOf(newest) + HOUR
  const first = hourOf(Math.min(...occurrences.map(timeOf)))
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

function isNear(first: TestOccurrence, second: TestOccurrence, minutes: number): boolean {
  return Math.abs(first.occurred_at - second.occurred_at) <= minutes * MINUTE
}

function timeOf({ occurred_at }: TestOccurrence): number {
  return occurred_at
}

async function idOf(
  { database }: Awaited<ReturnType<typeof recordOccurrences>>['context'],
  type: string,
  application_id: number,
) {
  const { id } = await database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('error_type', '=', type)
    .where('application_id', '=', application_id)
    .executeTakeFirstOrThrow()
  return id
}

function occurrence(error_type: string, occurred_at: number): TestOccurrence {
  const rest = { message: 'alpha', file: 'cart', platform: 'Web', app_version: '1.0.0', severity: 'low' } as const
  return { error_type, user_id: null, occurred_at, ...rest }
}
