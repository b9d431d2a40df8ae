import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainData } from '../../../src/capture/values/plain-data.js'
import { createRedactor } from '../../../src/model/redaction/redaction.js'

const toPlain = (value: unknown) => plainData(value, createRedactor())

describe('plainData', () => {
  test.each([
    [{ a: [1, 'x', true, null] }, { a: [1, 'x', true, null] }],
    [
      { a: undefined, b: Number.NaN, c: 5n, d: Symbol('s'), e: () => 1 },
      { a: null, b: 'NaN', c: '5', d: 'Symbol(s)', e: '[Function]' },
    ],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Date(Number.NaN), 'Invalid Date'],
    [/x/g, '/x/g'],
    [
      new Map<unknown, unknown>([
        ['a', 1],
        [{}, 2],
      ]),
      { a: 1, '[object Object]': 2 },
    ],
    [new Set([1, 2]), [1, 2]],
    [Buffer.from('abc'), '[3 bytes]'],
    [new ArrayBuffer(8), '[8 bytes]'],
    [Promise.resolve(1), '[Promise]'],
    [new TypeError('x'), 'TypeError: x'],
    [new Proxy({ a: 1 }, {}), '[Proxy]'],
    [
      {
        get a() {
          return 'called'
        },
      },
      { a: '[Getter]' },
    ],
    [{ toJSON: () => 'called' }, { toJSON: '[Function]' }],
  ])('converts %s to plain data', (value, copy) => expect(toPlain(value)).toEqual(copy))

  test('copies a repeated value each time and replaces only circular references', () => {
    const shared = { x: 1 }
    const circle: Record<string, unknown> = { a: shared, b: shared }
    circle.c = circle
    expect(toPlain(circle)).toEqual({ a: { x: 1 }, b: { x: 1 }, c: '[Circular]' })
  })

  test('keeps a key named __proto__', () => {
    const copy = toPlain(JSON.parse('{"__proto__":{"polluted":true}}')) as object
    expect(Object.keys(copy)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect('polluted' in {}).toBe(false)
  })
})

describe('limits of plainData', () => {
  test('limits depth, keys, items and length', () => {
    const deep = Array.from({ length: 50 }).reduce((inner: unknown) => ({ inner }), 'end')
    expect(JSON.stringify(toPlain(deep))).toContain('[Object]')
    const keys = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i]))
    expect(Object.keys(toPlain(keys) as object)).toHaveLength(101)
    expect(toPlain(Array(500).fill(1))).toHaveLength(101)
    expect((toPlain(Array(500).fill(1)) as unknown[]).at(-1)).toBe('[400 more]')
    expect(toPlain('x'.repeat(5000))).toHaveLength(2000)
  })

  test('limits the total size of any value', () => {
    const wide = Array(100).fill(Array(100).fill(Array(100).fill('y'.repeat(2000))))
    expect(JSON.stringify(toPlain(wide)).length).toBeLessThan(70_000)
    const longKeys = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`${i}${'k'.repeat(5000)}`, 'x']))
    expect(JSON.stringify(toPlain([longKeys, longKeys, longKeys])).length).toBeLessThan(100_000)
    fc.assert(
      fc.property(fc.anything({ maxDepth: 8, maxKeys: 50 }), (value) => {
        const text = JSON.stringify(toPlain(value))
        expect(text.length).toBeLessThan(100_000)
        expect(text.isWellFormed()).toBe(true)
      }),
    )
  })
})

describe('redaction in plainData', () => {
  test('redacts values of sensitive keys in objects and Maps at any depth', () => {
    const value = { a: [{ b: { password: { x: 's3cr3t' } } }], m: new Map([['apiKey', 's3cr3t']]), cookies: ['s3cr3t'] }
    expect(JSON.stringify(toPlain(value))).not.toContain('s3cr3t')
  })
  test('redacts secrets in text, keys and numbers', () => {
    const value = {
      a: 'token=s3cr3t',
      '{"password":"s3cr3t"}': 1,
      n: 4111111111111111,
      big: 4111111111111111n,
      e: new Error('token=s3cr3t'),
    }
    expect(JSON.stringify(toPlain(value))).not.toMatch(/s3cr3t|4111/)
  })
  test('redacts before it truncates', () => {
    const text = `${'x'.repeat(1990)} 4111111111111111`
    expect(toPlain(text)).not.toMatch(/41/)
  })
  test('keeps an ordinary long number', () => {
    expect(toPlain({ at: 1_763_175_600_000, id: 4111111111111112 })).toEqual({
      at: 1_763_175_600_000,
      id: 4111111111111112,
    })
  })
})

describe('work that plainData avoids', () => {
  test('does not redact text beyond the total limit', () => {
    let filtered = 0
    const counting = {
      isSensitiveKey: () => false,
      text(text: string) {
        filtered += text.length
        return text
      },
    }
    const texts = Array.from({ length: 10 }, () =>
      Array.from({ length: 100 }, (_, i) => `${i}`.repeat(4000).slice(0, 4000)),
    )
    const kept = JSON.stringify(plainData(texts, counting))
    expect(filtered).toBeLessThanOrEqual(2 * 50_000 + 2 * 2000)
    expect(kept).toContain('[…]')
  })

  test('keeps no prefix of a secret beyond the total limit', () => {
    const limits = { depth: 2, keys: 10, items: 10, string: 200, values: 20, characters: 230 }
    const secret = `token=${'s3cr3t'.repeat(40)}`
    expect(plainData(['x'.repeat(200), secret], createRedactor(), limits)).toEqual(['x'.repeat(200), '[…]'])
  })

  test('does not access a Proxy in the prototype chain', () => {
    let touched = 0
    const trap = () => {
      touched++
      return []
    }
    const hostile = new Proxy(
      {},
      { ownKeys: trap, getOwnPropertyDescriptor: () => void touched++, get: () => void touched++ },
    )
    expect(toPlain(Object.assign(Object.create(hostile), { a: 1 }))).toEqual({ a: 1 })
    expect(touched).toBe(0)
  })

  test('does not read keys of a prototype', () => {
    const inherited = Object.create(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i])))
    expect(toPlain(Object.assign(inherited, { own: 1 }))).toEqual({ own: 1 })
  })
})

describe('values named by another member', () => {
  test.each([
    [{ rawHeaders: ['Host', 'x', 'Authorization', 'S'] }, { rawHeaders: ['Host', 'x', 'Authorization', '[FILTERED]'] }],
    [[['password', 'S']], [['password', '[FILTERED]']]],
    [
      { name: 'password', value: 'S' },
      { name: 'password', value: '[FILTERED]' },
    ],
    [
      { key: 'x-api-key', value: 'S' },
      { key: 'x-api-key', value: '[FILTERED]' },
    ],
    [
      { path: ['user', 'pin'], input: 'S' },
      { path: ['user', 'pin'], input: '[FILTERED]' },
    ],
    [
      { type: 'password', value: 'S' },
      { type: 'password', value: '[FILTERED]' },
    ],
    [
      { path: '/auth/login', data: 'x' },
      { path: '/auth/login', data: 'x' },
    ],
  ])('redacts only values that a sensitive name precedes: %j', (value, copy) => expect(toPlain(value)).toEqual(copy))
})
