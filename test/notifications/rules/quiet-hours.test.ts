import { describe, expect, test } from 'vitest'
import { createQuietHours, endOfQuietHours } from '../../../src/notifications/rules/quiet-hours.js'
import type { Options } from '../../../src/options.js'

const at = (text: string) => Date.parse(text)
const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString())

describe('the end of quiet hours', () => {
  test.each([
    [
      'on the next morning if they include midnight',
      '22:00-07:00',
      'UTC',
      '2026-03-10T23:30:10Z',
      '2026-03-11T07:00:00.000Z',
    ],
    ['on the same morning after midnight', '22:00-07:00', 'UTC', '2026-03-11T06:59:59Z', '2026-03-11T07:00:00.000Z'],
    ['after their last minute', '22:00-07:00', 'UTC', '2026-03-11T07:00:00Z', null],
    ['from their first minute', '22:00-07:00', 'UTC', '2026-03-11T22:00:00Z', '2026-03-12T07:00:00.000Z'],
    ['never before they start', '22:00-07:00', 'UTC', '2026-03-11T21:59:59Z', null],
    ['at noon', '11:00-12:00', 'UTC', '2026-03-11T11:30:00Z', '2026-03-11T12:00:00.000Z'],
    [
      'in the configured time zone',
      '22:00-07:00',
      'America/New_York',
      '2026-07-02T02:00:00Z',
      '2026-07-02T11:00:00.000Z',
    ],
    ['in a half-hour time zone', '22:15-06:45', 'Asia/Kolkata', '2026-07-01T17:00:00Z', '2026-07-02T01:15:00.000Z'],
    [
      'an hour earlier when daylight saving time starts',
      '22:00-07:00',
      'Europe/Berlin',
      '2026-03-28T22:30:00Z',
      '2026-03-29T05:00:00.000Z',
    ],
    [
      'an hour later when daylight saving time ends',
      '22:00-07:00',
      'Europe/Berlin',
      '2026-10-24T21:30:00Z',
      '2026-10-25T06:00:00.000Z',
    ],
    [
      'after a skipped hour that contains their end',
      '22:00-02:30',
      'Europe/Berlin',
      '2026-03-28T23:00:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'after the second of two repeated hours',
      '22:00-02:30',
      'Europe/Berlin',
      '2026-10-25T01:10:00Z',
      '2026-10-25T01:30:00.000Z',
    ],
  ])('computes the end of quiet hours: %s', (_, hours, zone, now, end) => {
    expect(iso(endOfQuietHours(at(now), hours, zone))).toBe(end)
  })
})

describe('quiet hours', () => {
  const heldUntil = (settings: Partial<Options>) =>
    createQuietHours({
      quiet_hours: '22:00-07:00',
      quiet_hours_bypass_severity: 'critical',
      time_zone: 'UTC',
      ...settings,
    } as Options)
  const now = at('2026-03-10T23:30:00Z')
  const end = at('2026-03-11T07:00:00Z')

  test('holds notifications until the end of quiet hours', () => {
    const held = heldUntil({})
    expect(held({ channel: 'chat', severity: 'high', now })).toBe(end)
    expect(held({ channel: 'email', severity: 'low', now: now + 1 })).toBe(end)
    expect(held({ channel: 'email', severity: 'low', now: end })).toBeNull()
    expect(held({ channel: 'email', severity: 'low', now: now - 3 * 3_600_000 })).toBeNull()
  })

  test('sends incidents and severe errors during quiet hours', () => {
    expect(heldUntil({})({ channel: 'incident', severity: 'low', now })).toBeNull()
    expect(heldUntil({})({ channel: 'chat', severity: 'critical', now })).toBeNull()
    expect(heldUntil({ quiet_hours_bypass_severity: 'high' })({ channel: 'chat', severity: 'high', now })).toBeNull()
    expect(heldUntil({ quiet_hours_bypass_severity: null })({ channel: 'chat', severity: 'critical', now })).toBe(end)
  })

  test('sends immediately if no quiet hours are configured', () => {
    expect(heldUntil({ quiet_hours: null })({ channel: 'chat', severity: 'low', now })).toBeNull()
  })
})
