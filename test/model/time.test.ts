import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DAY,
  daySpan,
  firstHourFrom,
  HOUR,
  lastDays,
  localDateTime,
  localDay,
  startOfDay,
  startOfHour,
  TIMEFRAMES,
  timeframeSpan,
} from '../../src/model/time.js'

const parse = (iso: string) => Date.parse(iso)

describe('startOfDay', () => {
  test.each([
    ['UTC', '2026-03-10T12:00:00Z', '2026-03-10T00:00:00Z'],
    ['UTC', '2026-03-10T00:00:00Z', '2026-03-10T00:00:00Z'],
    ['UTC', '2026-03-09T23:59:59.999Z', '2026-03-09T00:00:00Z'],
    ['Europe/Berlin', '2026-01-10T23:30:00Z', '2026-01-10T23:00:00Z'],
    ['Europe/Berlin', '2026-03-29T20:00:00Z', '2026-03-28T23:00:00Z'], // 23 hours long.
    ['Europe/Berlin', '2026-10-25T22:30:00Z', '2026-10-24T22:00:00Z'], // 25 hours long.
    ['America/New_York', '2026-03-08T12:00:00Z', '2026-03-08T05:00:00Z'],
    ['America/New_York', '2026-11-01T23:00:00Z', '2026-11-01T04:00:00Z'],
    ['Asia/Kolkata', '2026-03-10T18:29:59Z', '2026-03-09T18:30:00Z'],
    ['Asia/Kolkata', '2026-03-10T18:30:00Z', '2026-03-10T18:30:00Z'],
    ['America/Sao_Paulo', '2018-11-04T12:00:00Z', '2018-11-04T03:00:00Z'], // Midnight was skipped; the day starts at 01:00.
    ['America/Sao_Paulo', '2018-02-18T02:30:00Z', '2018-02-17T02:00:00Z'], // The hour before midnight occurs twice.
    ['America/Havana', '2025-11-02T12:00:00Z', '2025-11-02T04:00:00Z'], // Midnight occurs twice.
    ['Asia/Hebron', '1998-09-18T00:47:31Z', '1998-09-17T21:00:00Z'], // Midnight occurs twice, east of Greenwich.
    ['Pacific/Apia', '2011-12-31T00:00:00Z', '2011-12-30T10:00:00Z'], // December 30 was skipped.
    ['Australia/Lord_Howe', '2026-04-05T10:00:00Z', '2026-04-04T13:00:00Z'], // Daylight saving time of half an hour.
    ['Asia/Kathmandu', '2026-03-10T12:00:00Z', '2026-03-09T18:15:00Z'],
  ])('in %s, the day of %s starts at %s', (zone, time, start) => {
    expect(new Date(startOfDay(parse(time), zone)).toISOString()).toBe(new Date(parse(start)).toISOString())
  })

  test('returns the first instant of the local date in every zone', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: parse('1990-01-01'), max: parse('2037-12-31') }),
        (zone, time) => {
          const start = startOfDay(time, zone)
          const date = ({ year, month, day }: ReturnType<typeof localDateTime>) => `${year}-${month}-${day}`
          expect(start).toBeLessThanOrEqual(time)
          expect(date(localDateTime(start, zone))).toBe(date(localDateTime(time, zone)))
          expect(date(localDateTime(start - 1, zone))).not.toBe(date(localDateTime(time, zone)))
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('timeframeSpan', () => {
  const now = parse('2026-03-29T20:00:00Z')

  test('starts the timeframe today at midnight and leaves the end open', () => {
    expect(timeframeSpan('today', now, 'Europe/Berlin')).toEqual({ from: parse('2026-03-28T23:00:00Z'), to: null })
  })
  test('ends the timeframe yesterday at the start of today, even if a day has 23 hours', () => {
    expect(timeframeSpan('yesterday', now, 'Europe/Berlin')).toEqual({
      from: parse('2026-03-27T23:00:00Z'),
      to: parse('2026-03-28T23:00:00Z'),
    })
    const dayAfter = parse('2026-03-30T12:00:00Z')
    const { from, to } = timeframeSpan('yesterday', dayAfter, 'Europe/Berlin')
    expect((to ?? 0) - from).toBe(23 * HOUR)
  })
  test('skips a day that does not exist in the time zone', () => {
    const span = timeframeSpan('yesterday', parse('2011-12-31T00:00:00Z'), 'Pacific/Apia')
    expect(span).toEqual({ from: parse('2011-12-29T10:00:00Z'), to: parse('2011-12-30T10:00:00Z') })
  })
  test('starts all other timeframes relative to the current time', () => {
    expect(timeframeSpan('last_hour', now, 'UTC').from).toBe(now - HOUR)
    const today = startOfDay(now, 'UTC')
    expect(timeframeSpan('last_7_days', now, 'UTC').from).toBe(today - 6 * DAY)
    expect(timeframeSpan('last_30_days', now, 'UTC').from).toBe(today - 29 * DAY)
    expect(timeframeSpan('last_90_days', now, 'UTC').from).toBe(today - 89 * DAY)
    // The last of these days has 23 hours because the clocks change.
    expect(timeframeSpan('last_7_days', parse('2026-03-30T10:00:00Z'), 'Europe/Berlin').from).toBe(
      parse('2026-03-23T23:00:00Z'),
    )
    expect(TIMEFRAMES).toEqual(['last_hour', 'today', 'yesterday', 'last_7_days', 'last_30_days', 'last_90_days'])
  })
})

test('returns the start of an hour, even before 1970', () => {
  expect(startOfHour(parse('2026-03-10T12:59:59.999Z'))).toBe(parse('2026-03-10T12:00:00Z'))
  expect(startOfHour(parse('2026-03-10T12:00:00Z'))).toBe(parse('2026-03-10T12:00:00Z'))
  expect(startOfHour(parse('1969-12-31T23:30:00Z'))).toBe(parse('1969-12-31T23:00:00Z'))
})

test('returns days of 23, 24 and 25 hours', () => {
  const hours = (day: string, zone: string) => {
    const { from, to } = daySpan(day, zone)
    return [new Date(from).toISOString(), (to - from) / HOUR]
  }
  expect(hours('2026-03-29', 'Europe/Berlin')).toEqual(['2026-03-28T23:00:00.000Z', 23])
  expect(hours('2026-10-25', 'Europe/Berlin')).toEqual(['2026-10-24T22:00:00.000Z', 25])
  expect(hours('2026-03-09', 'Pacific/Kiritimati')).toEqual(['2026-03-08T10:00:00.000Z', 24])
  expect(hours('2026-03-09', 'Pacific/Pago_Pago')).toEqual(['2026-03-09T11:00:00.000Z', 24])
  // Samoa skipped December 30 when it crossed the date line.
  expect(hours('2011-12-30', 'Pacific/Apia')[1]).toBe(0)
  const starts = lastDays(3, Date.parse('2026-03-30T12:00:00Z'), 'Europe/Berlin')
  expect(starts.map((start) => new Date(start).toISOString())).toEqual([
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ])
  expect(starts.map((start) => localDay(start, 'Europe/Berlin'))).toEqual(['2026-03-28', '2026-03-29', '2026-03-30'])
  expect(lastDays(2, Date.parse('2026-03-30T12:00:00Z'), 'Europe/Berlin')).toEqual(starts.slice(-2))
  expect(lastDays(1, Date.parse('2026-03-30T12:00:00Z'), 'UTC')).toEqual([Date.parse('2026-03-30T00:00:00Z')])
})

test('returns the first hour that starts within a day', () => {
  const firstHour = (time: string) => new Date(firstHourFrom(Date.parse(time))).toISOString()
  expect(firstHour('2026-03-09T18:30:00Z')).toBe('2026-03-09T19:00:00.000Z')
  expect(firstHour('2026-03-09T18:00:00Z')).toBe('2026-03-09T18:00:00.000Z')
})
