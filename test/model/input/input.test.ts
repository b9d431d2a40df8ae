import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { TrackerError } from '../../../src/model/errors.js'
import {
  choice,
  clampedInteger,
  filterText,
  flag,
  fraction,
  id,
  instant,
  integer,
  numberChoice,
  optional,
  optionalText,
  parseInput,
  requiredText,
  withDefault,
} from '../../../src/model/input/input.js'

const parse = (schema: v.GenericSchema, field: unknown) =>
  (parseInput(v.object({ field: schema }), { field }) as { field: unknown }).field

function rejectionMessage(schema: v.GenericSchema, field: unknown): string {
  try {
    parse(schema, field)
  } catch (error) {
    if (error instanceof TrackerError && error.code === 'invalid_input') return error.message
    throw error
  }
  throw new Error(`${String(field)} was taken`)
}

const NOT_A_NUMBER = [
  'abc',
  '',
  ' ',
  '12abc',
  '0x10',
  '0b1',
  'NaN',
  'Infinity',
  '1e309',
  '1,5',
  '--1',
  '٣',
  '+2',
  '1e1',
]
const NOT_A_VALUE = [Number.NaN, Number.POSITIVE_INFINITY, [1], ['1'], {}, true, null, Symbol('x'), () => 1, 5n]

describe('instant', () => {
  test('accepts ISO 8601, seconds and milliseconds', () => {
    const time = Date.parse('2026-03-09T12:00:00Z')
    const input = ['2026-03-09T12:00:00Z', time, String(time), time / 1000, String(time / 1000)]
    expect(input.map((value) => parse(instant(), value))).toEqual(input.map(() => time))
  })
  test.each(['', 'x', '1.5', '1e1', '-5', '+5', '3/9', '2026-13-09', '9'.repeat(20)])(
    'rejects %s as a time',
    (input) => {
      expect(rejectionMessage(instant(), input)).toBe('field must be a time such as 2026-03-09T12:00:00Z')
    },
  )
})

describe('integer', () => {
  const level = integer({ min: 0, max: 4 })
  test('accepts whole numbers as numbers and as text', () => {
    expect([0, '0', 4, '4', ' 3 '].map((input) => parse(level, input))).toEqual([0, 0, 4, 4, 3])
  })
  test.each([...NOT_A_NUMBER, ...NOT_A_VALUE, -1, 5, '5', 1.5, '1.5', '1.0'])(
    'rejects %s and names the field and its limits',
    (input) => {
      expect(rejectionMessage(level, input)).toBe('field must be a whole number from 0 to 4')
    },
  )
  test('reports a missing field by name', () => expect(rejectionMessage(level, undefined)).toBe('field is missing'))
})

describe('clampedInteger', () => {
  const page = clampedInteger({ min: 1, max: 100 })
  test.each([
    [0, 1],
    [-5, 1],
    ['0', 1],
    ['999999', 100],
    ['9'.repeat(30), 100],
    [1e300, 100],
    [-1e308, 1],
    ['25', 25],
  ])('clamps %s to %s', (input, parsed) => expect(parse(page, input)).toBe(parsed))
  test.each([...NOT_A_NUMBER, ...NOT_A_VALUE, 2.9, '2.9', '2.0'])('rejects %s as a clamped whole number', (input) => {
    expect(rejectionMessage(page, input)).toBe('field must be a whole number from 1 to 100')
  })
  test('always returns a value within the limits', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (input) => {
        const parsed = parse(page, input) as number
        expect(Number.isInteger(parsed) && parsed >= 1 && parsed <= 100).toBe(true)
      }),
    )
  })
})

test('accepts fractions within the limits, both included', () => {
  const threshold = fraction({ min: 0, max: 1 })
  expect([0, '1', '0.6', ' 0.5 '].map((input) => parse(threshold, input))).toEqual([0, 1, 0.6, 0.5])
  for (const input of [-0.1, 1.1, '2', '5e-1', ...NOT_A_NUMBER, ...NOT_A_VALUE])
    expect(rejectionMessage(threshold, input)).toBe('field must be a number from 0 to 1')
})

test('accepts only ids that every database stores exactly', () => {
  expect([1, '1', '9007199254740991'].map((input) => parse(id(), input))).toEqual([1, 1, Number.MAX_SAFE_INTEGER])
  for (const input of [0, -1, 1.5, '9007199254740993', 1e20])
    expect(rejectionMessage(id(), input)).toMatch(/^field must be a pos/)
  for (const input of [...NOT_A_NUMBER, ...NOT_A_VALUE])
    expect(rejectionMessage(id(), input)).toBe('field must be a record id')
})

describe('choice', () => {
  const direction = choice(['asc', 'desc'])
  test('accepts an allowed word', () =>
    expect([parse(direction, 'asc'), parse(direction, ' desc ')]).toEqual(['asc', 'desc']))
  test.each(['up', 'ASC', '', 'constructor', '__proto__', 5, ['asc'], null])(
    'rejects %s and lists the allowed words',
    (input) => {
      expect(rejectionMessage(direction, input)).toBe('field must be one of asc, desc')
    },
  )
})

describe('numberChoice', () => {
  const days = numberChoice([7, 30, 90])
  test('accepts an allowed number', () =>
    expect([7, '30', ' 90 '].map((input) => parse(days, input))).toEqual([7, 30, 90]))
  test.each([8, '8', 7.5, -7, ...NOT_A_NUMBER, ...NOT_A_VALUE])('rejects %s and lists the allowed numbers', (input) => {
    expect(rejectionMessage(days, input)).toBe('field must be one of 7, 30, 90')
  })
})

describe('withDefault', () => {
  const per_page = withDefault(clampedInteger({ min: 1, max: 100 }), 25)
  const direction = withDefault(choice(['asc', 'desc']), 'desc')
  test('uses the default for an absent, empty or null parameter', () => {
    expect(parseInput(v.object({ per_page, direction }), {})).toEqual({ per_page: 25, direction: 'desc' })
    expect([undefined, '', null].map((input) => parse(per_page, input))).toEqual([25, 25, 25])
  })
  test('validates a value that replaces the default', () => {
    expect(['10', 0, 1e9].map((input) => parse(per_page, input))).toEqual([10, 1, 100])
    expect(rejectionMessage(per_page, 'many')).toBe('field must be a whole number from 1 to 100')
    expect(rejectionMessage(direction, 'up')).toBe('field must be one of asc, desc')
  })
})

describe('flag', () => {
  test.each([
    [true, true],
    ['true', true],
    ['TRUE', true],
    ['1', true],
    [1, true],
    ['on', true],
    [false, false],
    ['false', false],
    ['0', false],
    [0, false],
    ['off', false],
    ['', false],
  ])('parses %s as %s', (input, parsed) => expect(parse(flag(), input)).toBe(parsed))
  test.each(['yes', '2', 2, [], {}, null, 'constructor'])('rejects %s as a boolean', (input) => {
    expect(rejectionMessage(flag(), input)).toBe('field must be true or false')
  })
})

describe('text', () => {
  const name = requiredText({ max: 5 })
  const note = optionalText({ max: 5 })
  const filter = filterText({ max: 5 })

  test('trims required text and rejects empty text', () => {
    expect(parse(name, ' anna ')).toBe('anna')
    for (const input of ['', '   ', '\n\t']) expect(rejectionMessage(name, input)).toBe('field must not be empty')
    expect(rejectionMessage(name, undefined)).toBe('field is missing')
    for (const input of [5, null, ['a'], {}]) expect(rejectionMessage(name, input)).toBe('field must be a string')
  })
  test('rejects text over the limit and names the limit', () => {
    expect(rejectionMessage(name, 'abcdef')).toBe('field must not be longer than 5 characters')
    expect(rejectionMessage(note, 'abcdef')).toBe('field must not be longer than 5 characters')
  })
  test('treats absent, empty and null optional text as undefined', () => {
    expect([undefined, null, '', '  '].map((input) => parse(note, input))).toEqual(Array(4).fill(undefined))
    expect([undefined, null, '', '  '].map((input) => parse(filter, input))).toEqual(Array(4).fill(undefined))
    expect(rejectionMessage(note, 5)).toBe('field must be a string')
    expect(rejectionMessage(filter, ['a', 'b'])).toBe('field must be a string')
  })
  test('replaces NUL and lone surrogates', () => {
    expect(parse(name, 'a\0b')).toBe('a\uFFFDb')
    expect(parse(note, 'a\uD800')).toBe('a\uFFFD')
    expect(parse(filter, '\uDC00b')).toBe('\uFFFDb')
  })
})

describe('parseInput', () => {
  const schema = v.object({ error_id: id(), hours: integer({ min: 1, max: 8760 }), page: optional(id()) })
  const parsedOrMessage = (input: unknown) => {
    try {
      return parseInput(schema, input)
    } catch (error) {
      return (error as TrackerError).message
    }
  }
  test('reports all invalid fields in one message', () => {
    expect(parsedOrMessage({ hours: 'soon', page: -1 })).toBe(
      'error_id is missing; hours must be a whole number from 1 to 8760; page must be a positive whole number',
    )
  })
  test('rejects input that is not an object', () => {
    for (const input of ['text', 5, null, true, Symbol('x')])
      expect(parsedOrMessage(input)).toBe('the input must be an object with named fields')
  })
  test('treats an empty or null optional field as absent', () => {
    expect(parsedOrMessage({ error_id: 1, hours: 1, page: '' })).toEqual({ error_id: 1, hours: 1, page: undefined })
    expect(parsedOrMessage({ error_id: 1, hours: 1, page: null })).toEqual({ error_id: 1, hours: 1, page: undefined })
  })
  test('does not change a prototype', () => {
    const parsed = parsedOrMessage(JSON.parse('{"error_id":1,"hours":1,"__proto__":{"polluted":true}}')) as object
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect('polluted' in parsed || 'polluted' in {}).toBe(false)
  })
})
