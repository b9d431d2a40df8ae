import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TrackerInstance } from '../../../src/tracker.js'
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { CREDENTIALS, NOON } from '../../support/tracker.js'

const FIELDS = [
  'exception', 'error_type', 'message', 'backtrace', 'occurred_at', 'platform', 'app_version', 'git_sha', 'user_id',
  'request_url', 'request_params', 'ip_address', 'user_agent', 'severity', 'context', 'unhandled',
  'request', 'tags', 'source',
] // biome-ignore format: a word list reads best as lines of words

const throwError = () => {
  throw new Error('a trap of the host')
}

/** Values that break code that trusts them. */
const HOSTILE_VALUES: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  symbol: () => Symbol('x'),
  bigint: () => 10n ** 20_000n,
  nan: () => Number.NaN,
  function: () => () => throwError(),
  'arrow with a hostile name': () => Object.defineProperty(() => 1, 'name', { get: throwError }),
  'throwing Proxy': () =>
    new Proxy({}, { get: throwError, has: throwError, ownKeys: throwError, getPrototypeOf: throwError }),
  'revoked Proxy': () => revokedProxy(),
  'Proxy of an Error': () => new Proxy(new Error('x'), { get: throwError }),
  'revoked prototype': () => Object.create(revokedProxy() as object),
  'no prototype': () => Object.create(null),
  'throwing getters': () =>
    Object.defineProperties(
      {},
      Object.fromEntries(
        [...FIELDS, 'stack', 'name', 'cause', 'code', 'toJSON'].map((name) => [
          name,
          { get: throwError, enumerable: true },
        ]),
      ),
    ),
  'Error with throwing getters': () =>
    Object.defineProperties(
      new Error('x'),
      Object.fromEntries(
        ['stack', 'name', 'message', 'cause', 'errors', 'code', 'constructor'].map((name) => [
          name,
          { get: throwError },
        ]),
      ),
    ),
  'Error with values of wrong types': () =>
    Object.assign(new Error('x'), { name: 5, message: { a: 1 }, stack: [], cause: 5, errors: 'x', code: {} }),
  circular: () => {
    const value: Record<string, unknown> = { list: [] }
    value.self = value
    ;(value.list as unknown[]).push(value)
    return value
  },
  'circular causes': () => {
    const error = new Error('x')
    error.cause = new Error('y', { cause: error })
    return error
  },
  'aggregates of aggregates': () => nestedAggregate(6),
  frozen: () => Object.freeze(new TypeError('frozen')),
  'of another realm': () => runInNewContext('new TypeError("from elsewhere")'),
  'object of another realm': () => runInNewContext('({ a: [new Map([[1, 2]])] })'),
  'message of a megabyte': () => new Error('m'.repeat(1_000_000)),
  'trace of ten thousand lines': () =>
    Object.assign(new Error('x'), { stack: `Error: x\n${'    at f (/a.js:1:1)\n'.repeat(10_000)}` }),
  'NUL bytes': () => 'a\0b\0',
  'lone surrogates': () => '\uD800 and \uDFFF',
  'a hundred thousand items': () => Array(100_000).fill('x'),
  'sparse giant': () => Array(4_000_000_000),
  buffer: () => Buffer.alloc(100_000),
  'hostile Map': () => Object.assign(new Map([['a', 1]]), { [Symbol.iterator]: throwError, entries: throwError }),
  'hostile Date': () => Object.assign(new Date(), { getTime: throwError, toISOString: throwError }),
  'hostile RegExp': () => Object.assign(/x/, { toString: throwError, exec: throwError }),
  'hostile toString': () => ({
    toString: throwError,
    valueOf: throwError,
    [Symbol.toPrimitive]: throwError,
    toJSON: throwError,
  }),
  thenable: () => Object.fromEntries([['then', throwError]]),
  prototypes: () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  'reserved words': () => '__proto__',
  'constructor as text': () => 'constructor',
  'deep nest': () => Array.from({ length: 10_000 }).reduce((inner: unknown) => ({ inner }), 'end'),
  'empty text': () => '',
}

/**
 * Values whose text, number or size could matter to a database. Every database records all values as an exception, but
 * only these in the other fields and the scope. SQLite records all values everywhere.
 */
const STORED_VALUES = [
  'undefined',
  'null',
  'bigint',
  'nan',
  'Error with values of wrong types',
  'aggregates of aggregates',
  'message of a megabyte',
  'trace of ten thousand lines',
  'NUL bytes',
  'lone surrogates',
  'buffer',
  'hostile Date',
  'prototypes',
  'reserved words',
  'constructor as text',
  'empty text',
]

/** Factories instead of values, because fast-check inspects values. */
const valueFactory = fc.oneof(
  fc.constantFrom(...Object.values(HOSTILE_VALUES)),
  fc
    .anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true })
    .map((value) => () => value),
)
const input = fc.oneof(
  valueFactory,
  fc
    .dictionary(fc.constantFrom(...FIELDS), valueFactory)
    .map(
      (fields) => () => Object.fromEntries(Object.entries(fields).map(([name, createInput]) => [name, createInput()])),
    ),
)

describeEachDatabase('LogError with hostile values', (database) => {
  let tracker: TrackerInstance
  beforeAll(async () => {
    tracker = await openTracker(database)
  })
  afterAll(() => tracker.shutdown())
  const names = database.dialect === 'sqlite' ? Object.keys(HOSTILE_VALUES) : STORED_VALUES
  const log = (input: unknown) => tracker.Commands.LogError.call(input as never)

  describe('thrown values', () => {
    test.each(Object.keys(HOSTILE_VALUES))('records the thrown value "%s"', async (name) => {
      const logged = await log({ exception: HOSTILE_VALUES[name]?.() })
      expect(logged).toMatchObject({ state: 'recorded', error_type: expect.stringMatching(/./) })
    })
  })

  describe('other fields', () => {
    test.each(names)('records an error with the field value "%s"', async (name) => {
      const invalidFields = Object.fromEntries(FIELDS.slice(3).map((field) => [field, HOSTILE_VALUES[name]?.()]))
      expect(await log({ error_type: 'CartError', message: 'Empty', ...invalidFields })).toMatchObject({
        state: 'recorded',
      })
      expect(await log({ exception: new Error('x'), ...invalidFields })).toMatchObject({ state: 'recorded' })
    })
  })

  describe('scope', () => {
    test.each(names)('accepts "%s" in every scope method', async (name) => {
      const hostile = () => HOSTILE_VALUES[name]?.() as never
      await tracker.withScope(async () => {
        tracker.setContext(hostile())
        tracker.setContext({ value: hostile() })
        tracker.setTags(hostile())
        tracker.setTags({ value: hostile() })
        tracker.setUser(hostile())
        tracker.addBreadcrumb(hostile())
        tracker.addBreadcrumb({ category: hostile(), message: hostile(), duration_ms: hostile(), metadata: hostile() })
        tracker.addBreadcrumb({ category: 'x', message: 'y', metadata: { value: hostile() } })
        expect(await tracker.report(new Error('x'), hostile())).toMatchObject({ state: 'recorded' })
        expect(await tracker.report(hostile(), { context: hostile() })).toMatchObject({ state: 'recorded' })
      })
    })
  })

  test('never rejects or throws for any input', async () => {
    await fc.assert(
      fc.asyncProperty(input, async (createInput) => {
        const logged = await log(createInput())
        expect(logged === null || logged.state === 'recorded').toBe(true)
      }),
      { numRuns: database.dialect === 'sqlite' ? 300 : 100 },
    )
    expect((await tracker.stats()).dropped).not.toHaveProperty('refused_by_database')
    expect((await tracker.stats()).dropped).not.toHaveProperty(['failed: recording an error'])
    expect('polluted' in {}).toBe(false)
  })

  test('limits the size of stored data', async () => {
    await tracker.flush()
    for (const { id } of await tracker.Queries.ErrorsList.call({ per_page: 100 })) {
      const error = await tracker.Queries.FindError.call({ error_id: id })
      for (const occurrence of error.occurrences) expect(JSON.stringify(occurrence).length).toBeLessThan(250_000)
      expect(JSON.stringify([error.backtrace, error.causes]).length).toBeLessThan(1_500_000)
    }
  })
})

/** Shared by all tests of a database, unlike the trackers of support/tracker.ts. */
async function openTracker(database: TestDatabase): Promise<TrackerInstance> {
  return new TrackerInstance(
    {
      database: await database.fresh(),
      application_name: 'shop',
      ...CREDENTIALS,
      ignored_exceptions: [RangeError, /^Never/],
      enable_breadcrumbs: true,
    },
    { now: () => NOON, env: {}, write: () => {} },
  ).start()
}

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function nestedAggregate(depth: number): Error {
  if (depth === 0) return new Error('x'.repeat(10_000))
  return new AggregateError(
    Array.from({ length: 12 }, () => nestedAggregate(depth > 3 ? 0 : depth - 1)),
    'many',
    { cause: nestedAggregate(depth - 1) },
  )
}
