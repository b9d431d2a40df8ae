import { describe, expect, test } from 'vitest'
import { Describer, type ValueLimits } from '../../../src/diagnostics/variables/describe-value.js'
import { readFrames } from '../../../src/diagnostics/variables/read-frames.js'
import { createRedactor } from '../../../src/model/redaction/redaction.js'

const POSITION = { functionName: 'f', url: 'file:///srv/app.js', line: 1, column: 1 }
const LIMITS: ValueLimits = { depth: 3, stringLength: 200, arrayItems: 10, objectKeys: 20 }

function described(value: unknown, limits: Partial<ValueLimits> = {}, name = 'value'): unknown {
  return new Describer(createRedactor(['iban', /^tax/]), { ...LIMITS, ...limits }).variable(name, value)
}

class Order {
  id = 7
  #hidden = 1
  get total(): number {
    throw new Error('a getter was called')
  }
  hidden(): number {
    return this.#hidden
  }
}

/** Subclass that overrides a built-in getter. */
class Tape extends ArrayBuffer {
  override get byteLength(): number {
    throw new Error('a getter was called')
  }
}

function argumentsOf(..._values: number[]): unknown {
  // biome-ignore lint/complexity/noArguments: the value under test.
  return arguments
}

describe('a described value', () => {
  test.each([
    ['text', 'text'],
    [12.5, 12.5],
    [true, true],
    [null, null],
    [undefined, '[undefined]'],
    [Number.NaN, 'NaN'],
    [-0, '-0'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [10n, '10n'],
    [Symbol('sign'), 'Symbol(sign)'],
    [function pay() {}, '[Function pay]'],
    [() => 1, '[Function]'],
    [Order, '[class Order]'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Date(Number.NaN), 'Invalid Date'],
    [/a+/gi, '/a+/gi'],
    [new TypeError('no'), 'TypeError: no'],
    [Promise.resolve(1), '[Promise]'],
    [new WeakMap(), '[WeakMap]'],
    [Buffer.alloc(1_000_000), '[Buffer, 1000000 bytes]'],
    [new Float64Array(4), '[Float64Array, 32 bytes]'],
    [new ArrayBuffer(8), '[ArrayBuffer, 8 bytes]'],
    [new String('boxed'), 'boxed'],
    [new Proxy({}, {}), '[Proxy]'],
    [new Proxy(() => 1, {}), '[Proxy]'],
    [process.env, '[process.env]'],
    [globalThis, '[globalThis]'],
    [
      [1, [2, { three: 3 }]],
      [1, [2, { three: 3 }]],
    ],
    [new Order(), { '(type)': 'Order', id: 7 }],
    [Object.create(null), {}],
    [new Map<unknown, unknown>([['a', 1], [{ b: 1 }, 2]]), { '(type)': 'Map(2)', a: 1, '[Object]': 2 }], // biome-ignore format: one case
    [new Set([1, 'two']), { '(type)': 'Set(2)', values: [1, 'two'] }],
    [argumentsOf(1, 2), [1, 2]],
    [Object.defineProperty({}, 'lazy', { get: () => 1, enumerable: true }), { lazy: '[Getter]' }],
    [JSON.parse('{"__proto__": {"admin": true}}'), JSON.parse('{"__proto__": {"admin": true}}')],
    [Object.assign(new Array(3), { 0: 1, 2: 3 }), [1, '[empty]', 3]],
  ])('describes a value as plain data: %#', (value, expected) => {
    const plain = described(value)
    expect(plain).toEqual(expected)
    expect(JSON.parse(JSON.stringify(plain))).toEqual(plain)
  })

  test('omits methods and limits properties of `this`', () => {
    const self = Object.assign(new Order(), { pay: () => 1, paid: true, token: 'x', more: { a: { b: { c: 1 } } } })
    const describer = new Describer(createRedactor(), LIMITS)
    expect(describer.properties(self, 3)).toEqual({
      ...{ '(type)': 'Order', id: 7, paid: true, token: '[FILTERED]', '(more)': '1 more' },
    })
    expect(describer.properties({ more: self.more }, 3)).toEqual({ more: { a: { b: { c: 1 } } } })
  })

  test('does not call an overridden byteLength getter', () => {
    expect(described(new Tape(4))).toBe('[ArrayBuffer, 4 bytes]')
    expect(described(new SharedArrayBuffer(8))).toBe('[ArrayBuffer, 8 bytes]')
  })

  test('marks circular references', () => {
    const order: Record<string, unknown> = { id: 1 }
    order.self = order
    expect(described({ order, again: order })).toEqual({
      order: { id: 1, self: '[Circular]' },
      again: { id: 1, self: '[Circular]' },
    })
  })

  test('respects the limits for depth, width and length', () => {
    expect(described({ a: { b: { c: { d: 1 } } } })).toEqual({ a: { b: { c: '[Object]' } } })
    expect(described({ a: { b: 1 } }, { depth: 1 })).toEqual({ a: '[Object]' })
    expect(described([1, 2, 3, 4], { arrayItems: 2 })).toEqual([1, 2, '[2 more]'])
    expect(described({ a: 1, b: 2, c: 3 }, { objectKeys: 2 })).toEqual({ a: 1, b: 2, '(more)': '1 more' })
    expect(described('x'.repeat(5_000_000), { stringLength: 20 })).toHaveLength(20)
    expect(described(new Set([1, 2, 3]), { arrayItems: 1 })).toEqual({ '(type)': 'Set(3)', values: [1, '[2 more]'] })
    const map = new Map(Array.from({ length: 50 }, (_, i) => [`key ${i}`, i]))
    expect(described(map, { objectKeys: 1 })).toEqual({ '(type)': 'Map(50)', 'key 0': 0, '(more)': '49 more' })
  })

  test('a described value is bounded for a list or a tree with a million items', () => {
    const wide = (depth: number): unknown => (depth === 0 ? 'leaf' : Array.from({ length: 100 }, () => wide(depth - 1)))
    const tree = { list: new Array(5_000_000).fill(1), tree: wide(3) }
    const plain = described(tree, { depth: 10, arrayItems: 100, objectKeys: 100 })
    expect(JSON.stringify(plain).length).toBeLessThan(10_000)
  })

  test('a described value is truncated when all variables together are too long', () => {
    const describer = new Describer(createRedactor(), { ...LIMITS, stringLength: 5000 })
    const all = Array.from({ length: 100 }, (_, i) => describer.variable(`v${i}`, `${i} `.repeat(2000)))
    expect(JSON.stringify(all).length).toBeLessThan(50_000)
  })
})

describe('a secret', () => {
  test('a secret is filtered by the name of its variable or key', () => {
    expect(described('hunter2', {}, 'password')).toBe('[FILTERED]')
    expect(described({ user: { api_key: 'x', iban: 'DE1', tax_number: 4, name: 'Ada' } })).toEqual({
      user: { api_key: '[FILTERED]', iban: '[FILTERED]', tax_number: '[FILTERED]', name: 'Ada' },
    })
    expect(described(new Map([['token', 'x']]))).toEqual({ '(type)': 'Map(1)', token: '[FILTERED]' })
  })

  test('a secret is filtered by its shape', () => {
    expect(described('card 4111 1111 1111 1111')).toBe('card [FILTERED]')
    expect(described(4111111111111111)).toBe('[FILTERED]')
    expect(described('Authorization: Bearer abcdef123456')).not.toContain('abcdef')
    expect(described(['postgres://user:hunter2@db/shop'])).toEqual([expect.not.stringContaining('hunter2')])
  })

  test('a secret is filtered when the previous item or a sibling contains its name', () => {
    expect(described(['Host', 'shop', 'X-Api-Key', 'abc', 'Accept', '*'])).toEqual(['Host', 'shop', 'X-Api-Key', '[FILTERED]', 'Accept', '*']) // biome-ignore format: pairs
    expect(described({ name: 'password', value: 'hunter2' })).toEqual({ name: 'password', value: '[FILTERED]' })
  })

  test('a secret is filtered when another variable or property of the frame contains its name', () => {
    const frame = (values: object) => ({ ...POSITION, scopes: [{ values, isModule: false, start: null, end: null }] })
    const limits = { ...LIMITS, variables: 15, instanceVariables: 20 }
    const read = (values: object, thisValue: unknown = null) =>
      readFrames([{ ...frame(values), thisValue } as never], createRedactor([]), limits)[0]
    for (const values of [
      { key: 'password', value: 'hunter2' },
      { name: 'Authorization', val: 'hunter2' },
    ]) {
      expect(JSON.stringify(read(values))).not.toContain('hunter2')
      expect(JSON.stringify(read({ i: 1 }, values))).not.toContain('hunter2')
    }
    expect(JSON.stringify(read({ key: 'color', value: 'green' }))).toContain('green')
  })

  test('a secret is filtered before truncation', () => {
    const text = `${'x'.repeat(15)} token=abcdefghijklmnop`
    expect(described(text, { stringLength: 30 })).not.toContain('abc')
    expect(described(`postgres://user:${'hunter2'.repeat(100)}@db/shop`)).not.toContain('hunter')
  })
})
