import * as v from 'valibot'
import { expect, test, vi } from 'vitest'
import { ErrorCorrelation } from '../src/analytics/correlation/error-correlation.js'
import { PlatformComparison } from '../src/analytics/platforms/platform-comparison.js'
import type { Context } from '../src/context.js'
import { integer } from '../src/model/input/input.js'
import { asClass, asStream, bindOperations, defineOperation, lazyOperations, perform } from '../src/operation.js'
import { COMMANDS, QUERIES, SERVICES } from '../src/operations.js'
import { TrackerInstance } from '../src/tracker.js'

const daysInput = v.object({ days: v.optional(integer({ min: 1, max: 365 }), 7) })

function fakeContext(ready: () => Promise<void> = async () => {}): Context {
  return { ready: vi.fn(ready) } as Partial<Context> as Context
}

const doubled = defineOperation({ input: daysInput, run: async (_context, { days }) => days * 2 })

const countdown = defineOperation({
  input: daysInput,
  async run(_context, { days }) {
    return (async function* () {
      for (let left = days; left > 0; left--) yield left
    })()
  },
})

class Calendar {
  readonly #days: number

  constructor(days: number) {
    opened()
    this.#days = days
  }

  async days(): Promise<number> {
    return this.#days
  }

  async plus(more: number): Promise<number> {
    return this.#days + more
  }
}

const opened = vi.fn()
const calendar = defineOperation({ input: daysInput, run: async (_context, { days }) => new Calendar(days) })

test('perform parses raw input once and runs the operation when the database is ready', async () => {
  const context = fakeContext()
  expect(await perform(doubled, context, { days: '21' })).toBe(42)
  expect(await perform(doubled, context)).toBe(14)
  expect(context.ready).toHaveBeenCalledTimes(2)
  await expect(perform(doubled, context, { days: 'x' })).rejects.toThrow('days must be a whole number from 1 to 365')
  const unavailable = fakeContext(() => Promise.reject(new Error('not migrated')))
  await expect(perform(doubled, unavailable)).rejects.toThrow('not migrated')
})

const windowInput = v.object({ window_days: integer({ min: 1, max: 365 }) })
const windowed = defineOperation({ input: windowInput, run: async (_context, { window_days }) => window_days })
const windowedStream = defineOperation({
  input: windowInput,
  run: async (_context, { window_days }) => countTo(window_days),
})
const windowedCalendar = defineOperation({
  input: windowInput,
  run: async (_context, { window_days }) => new Calendar(window_days),
})

async function* countTo(last: number) {
  for (let i = 1; i <= last; i++) yield i
}

test('operations, streams, classes and operations that are loaded later accept camelCase', async () => {
  const lazily = lazyOperations(async () => ({ windowed }))
  const table = {
    Window: windowed,
    Later: lazily('windowed'),
    Days: { list: asStream(windowedStream) },
    Calendar: asClass(windowInput, windowedCalendar, ['days']),
  }
  const bound = bindOperations(table, fakeContext)
  expect(await bound.Window.call({ windowDays: 3 })).toBe(3)
  expect(await bound.Later.call({ windowDays: 3 })).toBe(3)
  const listed: number[] = []
  for await (const day of bound.Days.list({ windowDays: 3 })) listed.push(day)
  expect(listed).toEqual([1, 2, 3])
  expect(await new bound.Calendar({ windowDays: 3 }).days()).toBe(3)
  const both = { window_days: 3, windowDays: 3 } as never
  const conflict = 'window_days and windowDays are two spellings of one name'
  await expect(bound.Later.call(both)).rejects.toMatchObject({ code: 'invalid_input' })
  await expect(bound.Later.call(both)).rejects.toThrow(conflict)
  expect(() => new bound.Calendar(both)).toThrow(conflict)
})

test('a bound table offers operations, methods and streams under their names', async () => {
  const bound = bindOperations({ Double: doubled, Days: { twice: doubled, left: asStream(countdown) } }, fakeContext)
  expect(await bound.Double.call({ days: 4 })).toBe(8)
  expect(await bound.Days.twice({ days: 5 })).toBe(10)
  const left: number[] = []
  for await (const day of bound.Days.left({ days: 3 })) left.push(day)
  expect(left).toEqual([3, 2, 1])
})

test('a bound call rejects instead of throwing when the tracker is shut down', async () => {
  const bound = bindOperations({ Double: doubled, Days: { left: asStream(countdown) } }, () => {
    throw new Error('shut down')
  })
  await expect(bound.Double.call()).rejects.toThrow('shut down')
  await expect(bound.Days.left().next()).rejects.toThrow('shut down')
})

test('a bound class checks its input in the constructor and opens its query once per context', async () => {
  opened.mockClear()
  let context = fakeContext()
  const lookUp = vi.fn(() => context)
  const { Calendar: BoundCalendar } = bindOperations(
    { Calendar: asClass(daysInput, calendar, ['days', 'plus']) },
    lookUp,
  )
  expect(() => new BoundCalendar({ days: Number.NaN })).toThrow('days must be a whole number from 1 to 365')
  const query = new BoundCalendar({ days: 5 })
  expect(lookUp).not.toHaveBeenCalled()
  expect([await query.days(), await query.plus(2)]).toEqual([5, 7])
  expect(opened).toHaveBeenCalledTimes(1)
  context = fakeContext()
  expect(await query.days()).toBe(5)
  expect(opened).toHaveBeenCalledTimes(2)
})

test('a bound class opens its query again after a failure', async () => {
  const ready = vi.fn(async () => {}).mockRejectedValueOnce(new Error('not migrated'))
  const context = fakeContext(ready)
  const bound = bindOperations({ Calendar: asClass(daysInput, calendar, ['days', 'plus']) }, () => context)
  const query = new bound.Calendar()
  await expect(query.days()).rejects.toThrow('not migrated')
  expect(await query.days()).toBe(7)
})

test('a tracker offers every row of the table of operations', () => {
  const tracker = new TrackerInstance()
  expect(Object.keys(tracker.Commands)).toEqual(['LogError', ...Object.keys(COMMANDS)])
  expect(Object.keys(tracker.Queries)).toEqual(Object.keys(QUERIES))
  expect(Object.keys(tracker.Services)).toEqual(Object.keys(SERVICES))
  expect(() => new tracker.Queries.PlatformComparison({ days: 'week' })).toThrow('days must be a whole number')
})

test('a lazy operation loads its module with the first call and parses its input', async () => {
  const load = vi.fn(async () => ({ doubled }))
  const { Double } = bindOperations({ Double: lazyOperations(load)('doubled') }, fakeContext)
  expect(load).not.toHaveBeenCalled()
  expect(await Double.call({ days: 4 })).toBe(8)
  await expect(Double.call({ days: 0 })).rejects.toThrow('days must be a whole number from 1 to 365')
})

test('a query class offers every method', () => {
  const { prototype: platforms } = PlatformComparison
  const { prototype: correlation } = ErrorCorrelation
  expect(['constructor', ...QUERIES.PlatformComparison.methods]).toEqual(Object.getOwnPropertyNames(platforms))
  expect(['constructor', ...QUERIES.ErrorCorrelation.methods]).toEqual(Object.getOwnPropertyNames(correlation))
})

test('ImportErrors rejects input that is not a stream of lines', async () => {
  const outcome = perform(COMMANDS.ImportErrors, fakeContext(), { lines: [] })
  await expect(outcome).rejects.toThrow('lines must be an async iterable of lines')
})
