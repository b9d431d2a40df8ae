import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { describeThrown, thrownMessage } from '../../../src/capture/values/thrown-value.js'
import { parseFrame } from '../../../src/model/stacks/backtrace.js'

const describeValue = (value: unknown, lines = 50) => describeThrown(value, lines)

class CartError extends Error {}

describe('describeThrown', () => {
  test.each([
    [new TypeError('x'), 'TypeError', 'x'],
    [new CartError('x'), 'CartError', 'x'],
    [Object.assign(new Error('x'), { name: 'Renamed' }), 'Renamed', 'x'],
    [Object.assign(new CartError('x'), { name: '  ' }), 'CartError', 'x'],
    [new DOMException('x', 'AbortError'), 'AbortError', 'x'],
    [runInNewContext('new RangeError("x")'), 'RangeError', 'x'],
    ['just text', 'string', 'just text'],
    [42, 'number', '42'],
    [undefined, 'undefined', 'undefined'],
    [null, 'null', 'null'],
    [Symbol('s'), 'symbol', 'Symbol(s)'],
    [{ message: 'like an error' }, 'Object', 'like an error'],
    [{ a: 1, b: { c: 2 } }, 'Object', '{ a: 1, b: { c: 2 } }'],
    [[1, 2], 'Array', '[ 1, 2 ]'],
    [Object.assign(new Error('x'), { message: { a: 1 } }), 'Error', '{ a: 1 }'],
    [new Proxy(new Error('x'), {}), 'Proxy', '[a Proxy was thrown]'],
  ])('returns type and message of %s', (value, error_type, message) =>
    expect(describeValue(value)).toMatchObject({ error_type, message }),
  )

  test('marks thrown values that are not errors', () => {
    expect(describeValue('text').details).toEqual({ thrown_value_was_no_error: true })
    expect(describeValue(new Error('x')).details).toEqual({})
  })
  test('keeps the details of a system error', () => {
    const error = Object.assign(new Error('x'), {
      code: 'ECONNREFUSED',
      errno: -111,
      syscall: 'connect',
      address: '::1',
      port: 5432,
    })
    expect(describeValue(error).details).toEqual({
      code: 'ECONNREFUSED',
      errno: -111,
      syscall: 'connect',
      address: '::1',
      port: 5432,
    })
  })
  test('counts the code of a cloned Faultboard as a library', () => {
    const own = resolve('src/cli/serve.ts')
    const stack = `Error: x\n    at listen (${own}:4:2)\n    at ${pathToFileURL(own)}:9:1\n    at test (${resolve('test/a.ts')}:1:1)`
    const { backtrace } = describeValue(Object.assign(new Error('x'), { stack }))
    expect(backtrace.map((line) => parseFrame(line, process.cwd()))).toMatchObject([
      { file: 'node_modules/faultboard/src/cli/serve.ts', line_number: 4, in_app: false },
      { file: 'node_modules/faultboard/src/cli/serve.ts', line_number: 9, in_app: false },
      { file: 'test/a.ts', in_app: true },
    ])
  })
  test('always returns a reason for the log', () => {
    for (const value of [new Error('x'), new Error(''), undefined, Object.create(null), Symbol('x')])
      expect(thrownMessage(value)).toMatch(/./)
  })
})

describe('causes', () => {
  test('returns nested, aggregated and suppressed causes', () => {
    const inner = Object.assign(new Error('inner'), { code: 'EIO' })
    const error = new AggregateError([new Error('one'), 'two'], 'all', { cause: new Error('outer', { cause: inner }) })
    expect(describeValue(error).causes).toMatchObject([
      { message: 'outer', relation: 'cause', causes: [{ message: 'inner', relation: 'cause', code: 'EIO' }] },
      { message: 'one', relation: 'aggregated' },
      { error_type: 'string', message: 'two', relation: 'aggregated' },
    ])
  })
  test('limits the number and size of causes', () => {
    const nestedAggregate = (depth: number): Error =>
      depth === 0
        ? new Error('m'.repeat(100_000))
        : new AggregateError(Array.from({ length: 10 }, () => nestedAggregate(depth - 1)))
    const causes = describeValue(nestedAggregate(4)).causes
    expect(JSON.stringify(causes).length).toBeLessThan(300_000)
    expect(JSON.stringify(causes).match(/"relation"/g)?.length).toBeLessThanOrEqual(20)
  })
  test('stops at a circular cause', () => {
    const error = new Error('a')
    error.cause = error
    expect(describeValue(error).causes).toEqual([])
  })
})

describe('backtrace', () => {
  test('shares one array for errors from one location', () => {
    const createError = (message: string) =>
      Object.assign(new Error(message), { stack: `Error: ${message}\n    at f (/a.js:1:1)` })
    expect(describeValue(createError('a')).backtrace).toBe(describeValue(createError('b')).backtrace)
  })
  test('returns the requested number of lines each time', () => {
    const error = Object.assign(new Error('x'), { stack: `Error: x\n${'    at f (/a.js:1:1)\n'.repeat(9)}` })
    expect([2, 9, 5].map((lines) => describeValue(error, lines).backtrace.length)).toEqual([2, 9, 5])
  })
  test('skips a long message with lines that look like frames', () => {
    const message = '    at fake (/evil.js:1:1)\n'.repeat(50_000)
    const error = Object.assign(new Error(message), { stack: `Error: ${message}\n    at real (/a.js:1:1)` })
    expect(describeValue(error).backtrace).toEqual(['at real (/a.js:1:1)'])
  })
})
