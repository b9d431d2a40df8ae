import { expect, test } from 'vitest'
import { lastDigest, nextDigest } from '../../src/jobs/digest-schedule.js'

const at = Date.parse
const daily = { digest_frequency: 'daily', digest_hour: 8, time_zone: 'Europe/Berlin' } as const

test('schedules the daily digest at its hour in the time zone', () => {
  expect(nextDigest(at('2026-03-10T06:59:00Z'), daily)).toBe(at('2026-03-10T07:00:00Z'))
  expect(nextDigest(at('2026-03-10T07:00:00Z'), daily)).toBe(at('2026-03-11T07:00:00Z'))
  expect(nextDigest(at('2026-03-10T23:30:00Z'), daily)).toBe(at('2026-03-11T07:00:00Z'))
})

test('schedules the weekly digest on Mondays', () => {
  const weekly = { ...daily, digest_frequency: 'weekly' } as const
  expect(nextDigest(at('2026-03-10T12:00:00Z'), weekly)).toBe(at('2026-03-16T07:00:00Z'))
  expect(nextDigest(at('2026-03-16T07:00:00Z'), weekly)).toBe(at('2026-03-23T07:00:00Z'))
  // Sunday evening in New York is Monday in Berlin.
  const newYork = { ...weekly, time_zone: 'America/New_York', digest_hour: 0 }
  expect(nextDigest(at('2026-03-15T23:00:00Z'), newYork)).toBe(at('2026-03-16T04:00:00Z'))
})

test('schedules a digest on a day with a clock change', () => {
  // 02:00 is skipped on March 29 and occurs twice on October 25.
  expect(nextDigest(at('2026-03-28T07:00:00Z'), daily)).toBe(at('2026-03-29T06:00:00Z'))
  expect(nextDigest(at('2026-03-28T12:00:00Z'), { ...daily, digest_hour: 2 })).toBe(at('2026-03-29T01:00:00Z'))
  expect(nextDigest(at('2026-10-24T12:00:00Z'), { ...daily, digest_hour: 2 })).toBe(at('2026-10-25T00:00:00Z'))
})

test('combines missed digests into the last one', () => {
  const due = at('2026-03-10T07:00:00Z')
  expect(lastDigest(due, at('2026-03-10T07:30:00Z'), daily)).toBe(due)
  expect(lastDigest(due, at('2026-03-11T06:59:00Z'), daily)).toBe(due)
  expect(lastDigest(due, at('2026-03-14T12:00:00Z'), daily)).toBe(at('2026-03-14T07:00:00Z'))
})

test('sends no digest if it is disabled', () => {
  expect(nextDigest(0, { ...daily, digest_frequency: 'never' })).toBeNull()
})
