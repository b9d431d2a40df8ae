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
  ])('is taken as %s', (_, given) => expect(readTime(given, NOW)).toBe(earlier))

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
  ])('is now for %s', (_, given) => expect(readTime(given, NOW)).toBe(NOW))

  test('may lie a little ahead, as clocks differ', () => expect(readTime(NOW + 60_000, NOW)).toBe(NOW + 60_000))
})

describe('a field', () => {
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
  ])('%s is the text %s', (given, text) => expect(readText(given, 10)).toBe(text))

  test('is never longer than its limit, a number of a hundred thousand digits included', () => {
    expect(readText(10n ** 100_000n, 255)).toHaveLength(255)
    expect(readText('x'.repeat(1_000_000), 255)).toHaveLength(255)
  })
})

describe('a backtrace', () => {
  test('is a list of lines, or a text of lines, whose head of type and message is left out', () => {
    expect(readBacktrace(['at a', ' at b '], 50)).toEqual(['at a', 'at b'])
    expect(readBacktrace('Error: x\n    at a\n\n    at b', 50)).toEqual(['at a', 'at b'])
  })
  test('of a shape without "at" is kept whole', () => {
    expect(readBacktrace('total@https://a/b.js:1:2\nmain@https://a/b.js:3:4', 50)).toHaveLength(2)
  })
  test('is cut at max_backtrace_lines, counted from the first frame', () => {
    const text = `Error: x\n${Array.from({ length: 100 }, (_, i) => `at f${i}`).join('\n')}`
    expect(readBacktrace(text, 3)).toEqual(['at f0', 'at f1', 'at f2'])
    expect(readBacktrace(text.split('\n'), 3)).toEqual(['at f0', 'at f1', 'at f2'])
  })
  test.each([[5], [null], [{}], [new Proxy(['at a'], {})], [[1, null, {}, '']], [Array(1_000_000)]])(
    'is empty for %s',
    (given) => {
      expect(readBacktrace(given, 50)).toEqual([])
    },
  )
})

describe('the fields of an input', () => {
  test('are read one by one, so that a getter that throws costs only its own', () => {
    const input = {
      error_type: 'CartError',
      get message() {
        throw new Error('no')
      },
      platform: 'Web',
    }
    expect(readFields(input)).toEqual({ error_type: 'CartError', platform: 'Web' })
  })
  test('are the exception alone for an error handed over bare', () => {
    const exception = new TypeError('x')
    expect(readFields(exception)).toEqual({ exception })
  })
  test('are none for what is no object', () => {
    for (const input of [undefined, null, 5, 'x', Symbol('x')]) expect(readFields(input)).toEqual({})
  })
})
