import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { barEnd, CHART_RANGES, chartSpan, fittingSpan, spanBefore } from '../../src/model/chart-span.js'
import { scaleToHours } from '../../src/model/scale-to-hours.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const at = (text: string) => Date.parse(text)
const NOW = at('2026-05-20T12:33:00Z')
const iso = (time: number | undefined) => new Date(time ?? 0).toISOString().slice(0, 16)

describe('chartSpan', () => {
  test.each([
    ['1h', 12, '2026-05-20T11:35', '2026-05-20T12:35', 'five_minutes'],
    ['24h', 24, '2026-05-19T13:00', '2026-05-20T13:00', 'hour'],
    ['7d', 27, '2026-05-14T00:00', '2026-05-20T18:00', 'quarter_day'],
    ['30d', 30, '2026-04-21T00:00', '2026-05-21T00:00', 'day'],
    ['90d', 90, '2026-02-20T00:00', '2026-05-21T00:00', 'day'],
  ] as const)('the range %s has %i bars and ends with the current one', (range, count, from, to, step) => {
    const span = chartSpan({ range }, NOW, 'UTC')
    expect([span.starts.length, iso(span.from), iso(span.to), span.step]).toEqual([count, from, to, step])
    expect(span.starts.at(-1)).toBeLessThanOrEqual(NOW)
    expect(span.to).toBeGreaterThan(NOW)
  })

  test('the default is 30 days', () => {
    expect(chartSpan({}, NOW, 'UTC').range).toBe('30d')
  })

  test.each([
    ['2026-05-20T12:11Z', '1h'],
    ['2026-05-20T11:34Z', '24h'],
    ['2026-05-16T00:00Z', '7d'],
    ['2026-05-01T00:00Z', '30d'],
    ['2025-01-01T00:00Z', '30d'],
  ] as const)('the shortest range that contains %s is %s', (time, range) => {
    expect(fittingSpan({ first: at(time), last: NOW }, NOW, 'UTC')).toEqual({ range })
  })

  test('a chart of an old error contains its last occurrence', () => {
    const first = at('2025-01-01T00:00Z')
    expect(fittingSpan({ first, last: at('2026-04-22T00:00Z') }, NOW, 'UTC')).toEqual({ range: '30d' })
    expect(fittingSpan({ first, last: at('2026-04-10T00:00Z') }, NOW, 'UTC')).toEqual({ range: '90d' })
    const span = chartSpan(fittingSpan({ first, last: at('2026-02-01T07:00Z') }, NOW, 'UTC'), NOW, 'UTC')
    expect([iso(span.from), iso(span.to), span.step]).toEqual(['2026-01-02T00:00', '2026-02-02T00:00', 'day'])
  })

  test.each([
    ['2026-05-18T00:00Z', '2026-05-19T00:00Z', 24, 'hour'],
    ['2026-05-18T06:00Z', '2026-05-18T12:00Z', 6, 'hour'],
    ['2026-05-18T09:00Z', '2026-05-18T10:00Z', 12, 'five_minutes'],
    ['2026-05-11T00:00Z', '2026-05-18T00:00Z', 28, 'quarter_day'],
    ['2026-03-01T00:00Z', '2026-05-01T00:00Z', 61, 'day'],
    ['2026-05-20T12:00Z', '2026-05-20T13:00Z', 7, 'five_minutes'],
    ['2026-05-20T00:00Z', '2026-05-21T00:00Z', 13, 'hour'],
  ] as const)('the span from %s to %s has %i bars', (from, to, count, step) => {
    const span = chartSpan({ from: at(from), to: at(to) }, NOW, 'UTC')
    expect([span.range, span.starts.length, span.step]).toEqual([null, count, step])
  })

  test('a span without an end ends now, and a span without a start has 30 days', () => {
    expect(chartSpan({ from: at('2026-05-20T08:00Z') }, NOW, 'UTC').starts).toHaveLength(5)
    expect(iso(chartSpan({ to: at('2026-05-01T00:00Z') }, NOW, 'UTC').from)).toBe('2026-04-01T00:00')
  })

  test('a day with 25 hours has 25 bars, and days start at local midnight', () => {
    const [from, to] = [at('2025-10-25T22:00Z'), at('2025-10-26T23:00Z')]
    expect(chartSpan({ from, to }, NOW, 'Europe/Berlin').starts).toHaveLength(25)
    const { starts } = chartSpan({ range: '90d' }, at('2026-04-05T12:00Z'), 'Europe/Berlin')
    expect(iso(starts[0])).toBe('2026-01-05T23:00')
    expect(iso(starts.at(-1))).toBe('2026-04-04T22:00')
  })

  test('bars ascend, cover the span and start in the past for every range, span and zone', () => {
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia')
    const now = fc.integer({ min: at('2024-01-01'), max: at('2027-01-01') })
    const input = fc.oneof(
      fc.constantFrom(...CHART_RANGES).map((range) => ({ range })),
      fc.record({ before: fc.integer({ min: 1, max: 300 * DAY }), length: fc.integer({ min: 1, max: 366 * DAY }) }),
    )
    fc.assert(
      fc.property(zone, now, input, (zone, now, input) => {
        const selected = 'range' in input ? input : { from: now - input.before, to: now - input.before + input.length }
        const span = chartSpan(selected, now, zone)
        expect(span.starts.length).toBeGreaterThan(0)
        expect(span.starts.length).toBeLessThan(370)
        expect(span.starts[0]).toBe(span.from)
        for (const [i, start] of span.starts.entries()) {
          expect(start).toBeLessThanOrEqual(now)
          expect(barEnd(span, i)).toBeGreaterThan(start)
        }
        expect(spanBefore(span, now).from).toBeLessThan(span.from)
      }),
      { numRuns: 200, examples: [['UTC', at('2024-01-01'), { before: 1, length: 3 * HOUR + 1 }]] },
    )
  })
})

describe('scaleToHours', () => {
  const [first, second] = [at('2026-05-20T10:00Z'), at('2026-05-20T11:00Z')]

  test('changes nothing if all occurrences are stored', () => {
    const rows = [
      { start: first, count: 3 },
      { start: second, count: 2 },
    ]
    expect(
      scaleToHours(
        rows,
        new Map([
          [first, 3],
          [second, 2],
        ]),
      ),
    ).toEqual(rows)
  })

  test('keeps the exact sum of an hour of which only some occurrences are stored', () => {
    const rows = [3, 4, 4].map((count, i) => ({ start: first + i * 300_000, count }))
    const scaled = scaleToHours(rows, new Map([[first, 1000]])).map(({ count }) => count)
    expect(scaled).toEqual([273, 363, 364])
  })
})
