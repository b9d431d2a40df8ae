import { expect, test } from 'vitest'
import {
  clockTime,
  exactTime,
  formatCount,
  localDate,
  longDate,
  shortDate,
  timeOfDay,
} from '../../../src/dashboard/ui/time.js'
import {
  formatBytes,
  formatDuration,
  formatMilliseconds,
  formatNumber,
  formatPercent,
} from '../../../src/dashboard/ui/units.js'

const TIMES = [
  0,
  86_399_999,
  Date.UTC(2024, 1, 29, 23, 59, 59, 7),
  Date.UTC(2026, 2, 29, 0, 59),
  Date.UTC(2026, 8, 5, 4),
]
const ZONES = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati']

test.each(ZONES)('formats times in %s as British English', (timeZone) => {
  for (const time of TIMES) {
    const iso = new Date(time).toISOString()
    const british = (style: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat('en-GB', { ...style, timeZone }).format(time)
    expect(exactTime(iso, timeZone)).toBe(`${british({ dateStyle: 'medium', timeStyle: 'medium' })} ${timeZone}`)
    expect(timeOfDay(iso, timeZone)).toBe(`${british({ timeStyle: 'medium' })}.${iso.slice(20, 23)}`)
    expect(localDate(iso, timeZone)).toBe(british({ dateStyle: 'medium' }))
    expect(clockTime(time, timeZone)).toBe(british({ timeStyle: 'short' }))
  }
})

test('formats local dates as `5 Sept` and `Sat, 17 Oct 2026`', () => {
  expect(shortDate('2026-09-05')).toBe('5 Sept')
  expect(longDate('2026-10-17')).toBe('Sat, 17 Oct 2026')
})

const NUMBERS = [
  0, 7, 999, 1000, 1234.56, 99.96, 0.04, 0.35, 1.15, 12.35, 1.0005, 1e-7, -1, -0.2, -1234.5, 987_654_321.449,
]

test.each(NUMBERS)('formats %s as American English', (value) => {
  for (const maximumFractionDigits of [0, 1, 3]) {
    const american = new Intl.NumberFormat('en', { maximumFractionDigits }).format(value)
    expect(formatNumber(value, maximumFractionDigits)).toBe(american.replace(/^-0$/, '0'))
  }
})

test('shows a lower bound, a unit or a percentage', () => {
  expect(formatCount(12_345)).toBe('12,345')
  expect(formatCount(1000, true)).toBe('1,000+')
  expect(formatBytes(1_500_000)).toBe('1.4 MB')
  expect(formatMilliseconds(0.35)).toBe('0.4 ms')
  expect(formatDuration(69 * 60_000)).toBe('1.2 h')
  expect(formatPercent(0.1234)).toBe('12.3%')
})
