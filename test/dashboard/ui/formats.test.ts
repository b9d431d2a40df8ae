import { describe, expect, test } from 'vitest'
import { clockTime, exactTime, formatCount, localDate, longDate, shortDate } from '../../../src/dashboard/ui/time.js'
import { formatBytes, formatNumber, formatPercent } from '../../../src/dashboard/ui/units.js'

const TIMES = [
  0,
  86_399_999,
  Date.UTC(2024, 1, 29, 23, 59, 59, 7),
  Date.UTC(2026, 2, 29, 0, 59),
  Date.UTC(2026, 8, 5, 4),
]
const ZONES = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati']

describe('times', () => {
  test.each(ZONES)('have the British format in %s', (timeZone) => {
    for (const time of TIMES) {
      const iso = new Date(time).toISOString()
      const british = (style: Intl.DateTimeFormatOptions) =>
        new Intl.DateTimeFormat('en-GB', { ...style, timeZone }).format(time)
      expect(exactTime(iso, timeZone)).toBe(`${british({ dateStyle: 'medium', timeStyle: 'medium' })} ${timeZone}`)
      expect(localDate(iso, timeZone)).toBe(british({ dateStyle: 'medium' }))
      expect(clockTime(time, timeZone)).toBe(british({ timeStyle: 'short' }))
    }
  })

  test('of local dates have a short and a long format', () => {
    expect(shortDate('2026-09-05')).toBe('5 Sept')
    expect(longDate('2026-10-17')).toBe('Sat, 17 Oct 2026')
  })
})

describe('numbers', () => {
  test.each([0, 7, 999, 1000, 1234.56, 99.96, 0.04, -1, -0.2, -1234, 1_234_567, 987_654_321.449])(
    'have the American format: %s',
    (value) => {
      for (const maximumFractionDigits of [0, 1, 3]) {
        const american = new Intl.NumberFormat('en', { maximumFractionDigits }).format(value)
        expect(formatNumber(value, maximumFractionDigits)).toBe(american.replace(/^-0$/, '0'))
      }
    },
  )

  test('show a lower bound, a unit or a percentage', () => {
    expect(formatCount(12_345)).toBe('12,345')
    expect(formatCount(1000, true)).toBe('1,000+')
    expect(formatBytes(1_500_000)).toBe('1.4 MB')
    expect(formatPercent(0.1234)).toBe('12.3%')
  })
})
