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

function refusal(schema: v.GenericSchema, field: unknown): string {
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

describe('a time', () => {
  test('is taken in ISO 8601, in seconds and in milliseconds', () => {
    const time = Date.parse('2026-03-09T12:00:00Z')
    const given = ['2026-03-09T12:00:00Z', time, String(time), time / 1000, String(time / 1000)]
    expect(given.map((one) => parse(instant(), one))).toEqual(given.map(() => time))
  })
  test.each(['', 'x', '1.5', '1e1', '-5', '+5', '3/9', '2026-13-09', '9'.repeat(20)])('refuses %s', (given) => {
    expect(refusal(instant(), given)).toBe('field must be a time such as 2026-03-09T12:00:00Z')
  })
})

describe('a whole number', () => {
  const level = integer({ min: 0, max: 4 })
  test('is taken as a number and as text', () => {
    expect([0, '0', 4, '4', ' 3 '].map((given) => parse(level, given))).toEqual([0, 0, 4, 4, 3])
  })
  test.each([...NOT_A_NUMBER, ...NOT_A_VALUE, -1, 5, '5', 1.5, '1.5', '1.0'])(
    '%s is refused, naming field and limits',
    (given) => {
      expect(refusal(level, given)).toBe('field must be a whole number from 0 to 4')
    },
  )
  test('is missed by name', () => expect(refusal(level, undefined)).toBe('field is missing'))
})

describe('a clamped number', () => {
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
  ])('%s becomes %s', (given, taken) => expect(parse(page, given)).toBe(taken))
  test.each([...NOT_A_NUMBER, ...NOT_A_VALUE, 2.9, '2.9', '2.0'])('refuses %s, which is no whole number', (given) => {
    expect(refusal(page, given)).toBe('field must be a whole number from 1 to 100')
  })
  test('always lies between its limits', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (given) => {
        const taken = parse(page, given) as number
        expect(Number.isInteger(taken) && taken >= 1 && taken <= 100).toBe(true)
      }),
    )
  })
})

test('a fraction lies between its limits, both included', () => {
  const threshold = fraction({ min: 0, max: 1 })
  expect([0, '1', '0.6', ' 0.5 '].map((given) => parse(threshold, given))).toEqual([0, 1, 0.6, 0.5])
  for (const given of [-0.1, 1.1, '2', '5e-1', ...NOT_A_NUMBER, ...NOT_A_VALUE])
    expect(refusal(threshold, given)).toBe('field must be a number from 0 to 1')
})

test('an id is a positive whole number that no database rounds', () => {
  expect([1, '1', '9007199254740991'].map((given) => parse(id(), given))).toEqual([1, 1, Number.MAX_SAFE_INTEGER])
  for (const given of [0, -1, 1.5, '9007199254740993', 1e20])
    expect(refusal(id(), given)).toMatch(/^field must be a pos/)
  for (const given of [...NOT_A_NUMBER, ...NOT_A_VALUE]) expect(refusal(id(), given)).toBe('field must be a record id')
})

describe('one of a few words', () => {
  const direction = choice(['asc', 'desc'])
  test('is taken', () => expect([parse(direction, 'asc'), parse(direction, ' desc ')]).toEqual(['asc', 'desc']))
  test.each(['up', 'ASC', '', 'constructor', '__proto__', 5, ['asc'], null])(
    '%s is refused, naming the words',
    (given) => {
      expect(refusal(direction, given)).toBe('field must be one of asc, desc')
    },
  )
})

describe('one of a few numbers', () => {
  const days = numberChoice([7, 30, 90])
  test('is taken', () => expect([7, '30', ' 90 '].map((given) => parse(days, given))).toEqual([7, 30, 90]))
  test.each([8, '8', 7.5, -7, ...NOT_A_NUMBER, ...NOT_A_VALUE])('%s is refused, naming the numbers', (given) => {
    expect(refusal(days, given)).toBe('field must be one of 7, 30, 90')
  })
})

describe('a default', () => {
  const per_page = withDefault(clampedInteger({ min: 1, max: 100 }), 25)
  const direction = withDefault(choice(['asc', 'desc']), 'desc')
  test('is taken when the parameter is absent, empty or null', () => {
    expect(parseInput(v.object({ per_page, direction }), {})).toEqual({ per_page: 25, direction: 'desc' })
    expect([undefined, '', null].map((given) => parse(per_page, given))).toEqual([25, 25, 25])
  })
  test('gives way to what is given, which is checked as ever', () => {
    expect(['10', 0, 1e9].map((given) => parse(per_page, given))).toEqual([10, 1, 100])
    expect(refusal(per_page, 'many')).toBe('field must be a whole number from 1 to 100')
    expect(refusal(direction, 'up')).toBe('field must be one of asc, desc')
  })
})

describe('true, 1, on and false, 0, off, empty are the booleans', () => {
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
  ])('%s is %s', (given, taken) => expect(parse(flag(), given)).toBe(taken))
  test.each(['yes', '2', 2, [], {}, null, 'constructor'])('%s is refused', (given) => {
    expect(refusal(flag(), given)).toBe('field must be true or false')
  })
})

describe('text', () => {
  const name = requiredText({ max: 5 })
  const note = optionalText({ max: 5 })
  const filter = filterText({ max: 5 })

  test('that is required is trimmed and must not be empty', () => {
    expect(parse(name, ' anna ')).toBe('anna')
    for (const given of ['', '   ', '\n\t']) expect(refusal(name, given)).toBe('field must not be empty')
    expect(refusal(name, undefined)).toBe('field is missing')
    for (const given of [5, null, ['a'], {}]) expect(refusal(name, given)).toBe('field must be text')
  })
  test('that is too long is refused, naming the limit', () => {
    expect(refusal(name, 'abcdef')).toBe('field must not be longer than 5 characters')
    expect(refusal(note, 'abcdef')).toBe('field must not be longer than 5 characters')
  })
  test('that is optional may be left out, empty or null', () => {
    expect([undefined, null, '', '  '].map((given) => parse(note, given))).toEqual(Array(4).fill(undefined))
    expect([undefined, null, '', '  '].map((given) => parse(filter, given))).toEqual(Array(4).fill(undefined))
    expect(refusal(note, 5)).toBe('field must be text')
    expect(refusal(filter, ['a', 'b'])).toBe('field must be text')
  })
  test('is made storable: no NUL and no half of a surrogate pair', () => {
    expect(parse(name, 'a\0b')).toBe('a\uFFFDb')
    expect(parse(note, 'a\uD800')).toBe('a\uFFFD')
    expect(parse(filter, '\uDC00b')).toBe('\uFFFDb')
  })
})

describe('the whole input', () => {
  const schema = v.object({ error_id: id(), hours: integer({ min: 1, max: 8760 }), page: optional(id()) })
  const problem = (input: unknown) => {
    try {
      return parseInput(schema, input)
    } catch (error) {
      return (error as TrackerError).message
    }
  }
  test('names every field that is wrong in one sentence', () => {
    expect(problem({ hours: 'soon', page: -1 })).toBe(
      'error_id is missing; hours must be a whole number from 1 to 8760; page must be a positive whole number',
    )
  })
  test('must be an object', () => {
    for (const input of ['text', 5, null, true, Symbol('x')])
      expect(problem(input)).toBe('the input must be an object with named fields')
  })
  test('takes an optional field as absent when it is empty or null', () => {
    expect(problem({ error_id: 1, hours: 1, page: '' })).toEqual({ error_id: 1, hours: 1, page: undefined })
    expect(problem({ error_id: 1, hours: 1, page: null })).toEqual({ error_id: 1, hours: 1, page: undefined })
  })
  test('changes no prototype', () => {
    const taken = problem(JSON.parse('{"error_id":1,"hours":1,"__proto__":{"polluted":true}}')) as object
    expect(Object.getPrototypeOf(taken)).toBe(Object.prototype)
    expect('polluted' in taken || 'polluted' in {}).toBe(false)
  })
})
