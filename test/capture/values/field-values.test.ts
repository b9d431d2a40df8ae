import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { readBacktrace, readFields, readText, readTime } from '../../../src/capture/fields.js'

const NOW = Date.parse('2026-03-10T12:00:00Z')

describe('occurred_at', () => {
  const earlier = NOW - 60_000
  test.each([
    ['a Date', new Date(earlier)],
    ['a Date of another realm', runInNewContext('new Date(t)', { t: earlier })],
    ['milliseconds', earlier],
    ['milliseconds with a fraction', earlier + 0.7],
    ['milliseconds as text', String(earlier)],
    ['seconds', earlier / 1000],
    ['seconds as text', String(earlier / 1000)],
    ['ISO 8601', new Date(earlier).toISOString()],
    ['ISO 8601 in another zone', '2026-03-10T13:59:00+02:00'],
  ])('accepts %s as a time', (_, value) => expect(readTime(value, NOW)).toBe(earlier))

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['no time', 'yesterday-ish'],
    ['an invalid Date', new Date('x')],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a negative time', -5],
    ['tomorrow', NOW + 86_400_000],
    ['the end of time', 8.64e15],
    ['a list', [earlier]],
    ['a Proxy of a Date', new Proxy(new Date(earlier), {})],
  ])('falls back to the current time for %s', (_, value) => expect(readTime(value, NOW)).toBe(NOW))

  test('accepts a time slightly in the future because clocks differ', () =>
    expect(readTime(NOW + 60_000, NOW)).toBe(NOW + 60_000))
})

describe('text fields', () => {
  test.each([
    [' anna ', 'anna'],
    [42, '42'],
    [0, '0'],
    [12n, '12'],
    [true, 'true'],
    ['', undefined],
    ['  ', undefined],
    [Number.NaN, undefined],
    [null, undefined],
    [{}, undefined],
    [['a'], undefined],
    [Symbol('a'), undefined],
  ])('converts %s to %s', (value, text) => expect(readText(value, 10)).toBe(text))

  test('limits the length of text and of numbers', () => {
    expect(readText(10n ** 100_000n, 255)).toHaveLength(255)
    expect(readText('x'.repeat(1_000_000), 255)).toHaveLength(255)
  })
})

describe('backtrace', () => {
  test('accepts a list or text of lines and skips the header', () => {
    expect(readBacktrace(['at a', ' at b '], 50)).toEqual(['at a', 'at b'])
    expect(readBacktrace('Error: x\n    at a\n\n    at b', 50)).toEqual(['at a', 'at b'])
  })
  test('keeps lines without "at"', () => {
    expect(readBacktrace('total@https://a/b.js:1:2\nmain@https://a/b.js:3:4', 50)).toHaveLength(2)
  })
  test('limits the number of lines, counted from the first frame', () => {
    const text = `Error: x\n${Array.from({ length: 100 }, (_, i) => `at f${i}`).join('\n')}`
    expect(readBacktrace(text, 3)).toEqual(['at f0', 'at f1', 'at f2'])
    expect(readBacktrace(text.split('\n'), 3)).toEqual(['at f0', 'at f1', 'at f2'])
  })
  test.each([[5], [null], [{}], [new Proxy(['at a'], {})], [[1, null, {}, '']], [Array(1_000_000)]])(
    'returns no lines for %s',
    (value) => {
      expect(readBacktrace(value, 50)).toEqual([])
    },
  )
})

describe('input fields', () => {
  test('skips only the field whose getter throws', () => {
    const input = {
      error_type: 'CartError',
      get message() {
        throw new Error('no')
      },
      platform: 'Web',
    }
    expect(readFields(input)).toEqual({ error_type: 'CartError', platform: 'Web' })
  })
  test('treats a bare error as the exception', () => {
    const exception = new TypeError('x')
    expect(readFields(exception)).toEqual({ exception })
  })
  test('returns no fields for a value that is not an object', () => {
    for (const input of [undefined, null, 5, 'x', Symbol('x')]) expect(readFields(input)).toEqual({})
  })
})
