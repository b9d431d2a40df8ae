import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Ledger } from '../../../../../src/diagnostics/swallowed/detection/counting/ledger.js'
import { HOUR, startOfHour } from '../../../../../src/model/time.js'
import { NOON } from '../../../../support/tracker.js'

const THROW = 'src/a.ts:1:1#new'
const RETHROW = 'src/a.ts:2:1#rethrow'
const CATCH = 'src/a.ts:3:1#empty'
const OUTER = 'src/a.ts:4:1#logs'

function ledgerAt(maxTallies = 1000) {
  const clock = { now: NOON }
  const read: object[] = []
  const locate = (error: object) => {
    read.push(error)
    return 'src/far.ts:9:9'
  }
  return { ledger: new Ledger({ now: () => clock.now, locate, maxTallies }), clock, read }
}

/** Takes the counts and sums them. */
function sums(ledger: Ledger) {
  const all = { raised: 0, rescued: {} as Record<string, number>, reported: 0 }
  for (const { raise_count, rescue_count, reported_count, rescue_location } of ledger.take().rows) {
    all.raised += raise_count
    all.reported += reported_count
    if (rescue_count !== 0) all.rescued[rescue_location] = (all.rescued[rescue_location] ?? 0) + rescue_count
  }
  return all
}

type Step = 'throw' | 'rethrow' | 'catch' | 'outer' | 'report'

describe('the ledger', () => {
  test('agrees with a simple model after any sequence of steps and flushes', () => {
    const step = fc.constantFrom<Step>('throw', 'rethrow', 'catch', 'outer', 'report')
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(4), step, fc.boolean()), { maxLength: 60 }), (steps) => {
        const { ledger } = ledgerAt()
        const errors = Array.from({ length: 5 }, () => new Error('x'))
        const known = new Map<Error, { where: string | null; reported: boolean }>()
        const finalRescues: string[] = []
        let expected = { raised: 0, reported: 0 }
        const found = { raised: 0, reported: 0, rescued: new Map<string, number>() }
        const take = () => {
          const { raised, reported, rescued } = sums(ledger)
          found.raised += raised
          found.reported += reported
          for (const [location, count] of Object.entries(rescued)) {
            found.rescued.set(location, (found.rescued.get(location) ?? 0) + count)
          }
        }
        for (const [i, action, isFlush] of steps) {
          const error = errors[i] as Error
          const state = known.get(error)
          const isHandled = state !== undefined && (state.where !== null || state.reported)
          if (action === 'throw') {
            ledger.thrown(THROW, error)
            if (!state || isHandled) {
              expected = { ...expected, raised: expected.raised + 1 }
              // Throwing the object again makes its earlier rescue final.
              if (state?.where) finalRescues.push(state.where)
              known.set(error, { where: null, reported: false })
            }
          } else if (action === 'rethrow') {
            ledger.thrown(RETHROW, error)
            if (state) state.where = null
          } else if (action === 'report') {
            ledger.reported(error)
            if (!state) expected = { ...expected, raised: expected.raised + 1 }
            if (!state?.reported) expected = { ...expected, reported: expected.reported + 1 }
            known.set(error, { where: null, reported: true })
          } else {
            const mark = action === 'catch' ? CATCH : OUTER
            ledger.caught(error, mark)
            if (!state) expected = { ...expected, raised: expected.raised + 1 }
            if (!state?.reported) known.set(error, { where: mark.split('#')[0] ?? '', reported: false })
          }
          if (isFlush) take()
        }
        take()
        const rescued = new Map<string, number>()
        for (const where of [...finalRescues, ...[...known.values()].map(({ where }) => where)]) {
          if (where) rescued.set(where, (rescued.get(where) ?? 0) + 1)
        }
        expect({ raised: found.raised, reported: found.reported }).toEqual(expected)
        expect([...found.rescued].filter(([, count]) => count !== 0).sort()).toEqual([...rescued].sort())
      }),
      { numRuns: 500 },
    )
  })

  test('counts later rescues and reports in the hour of the throw', () => {
    const { ledger, clock } = ledgerAt()
    const [swallowed, reported] = [new Error('a'), new Error('b')]
    ledger.thrown(THROW, swallowed)
    ledger.thrown(THROW, reported)
    ledger.caught(reported, CATCH)
    const first = ledger.take().rows
    clock.now += HOUR
    ledger.caught(swallowed, CATCH)
    ledger.reported(reported)
    const second = ledger.take().rows
    expect([...first, ...second].map(({ hour }) => hour)).toEqual([...first, ...second].map(() => startOfHour(NOON)))
    expect(second.map((row) => [row.rescue_location, row.rescue_count, row.reported_count])).toEqual([['', 0, 1]])
  })

  test('evicts the least recently used locations and returns their number', () => {
    const { ledger } = ledgerAt(10)
    for (let i = 0; i < 25; i++) ledger.thrown(`src/a.ts:${i}:1#new`, new Error('x'))
    const { rows, evicted } = ledger.take()
    expect(rows.map(({ raise_location }) => raise_location)).toEqual(
      Array.from({ length: 10 }, (_, i) => `src/a.ts:${i + 15}:1`),
    )
    expect(evicted).toBe(15)
    expect(ledger.take()).toEqual({ rows: [], evicted: 0 })
  })

  test('does not count ignored types and codes', () => {
    const { ledger } = ledgerAt()
    ledger.configure({ now: () => NOON, locate: () => null, maxTallies: 10, ignoredTypes: ['Declined'] })
    class Declined extends Error {}
    for (const error of [new Declined(''), new DOMException('', 'AbortError'), { code: 'EPIPE' }]) {
      ledger.thrown(THROW, error)
      ledger.caught(error, CATCH)
    }
    expect(ledger.size).toBe(0)
  })

  test('limits the number of stacks read per second', () => {
    const { ledger, read } = ledgerAt()
    for (let i = 0; i < 1000; i++) ledger.caught(new Error('from elsewhere'), CATCH)
    const locations = new Set(ledger.take().rows.map(({ raise_location }) => raise_location))
    // The loop can run into the next second, which has its own limit.
    expect(read.length).toBeLessThan(1000)
    expect(locations).toEqual(new Set(['src/far.ts:9:9', '~src/a.ts:3:1']))
  })

  test('ignores values passed to catch methods of objects that are not promises', () => {
    const { ledger } = ledgerAt()
    ledger.caught({ input: 7 }, 'src/a.ts:5:1#value@promise')
    expect(ledger.size).toBe(0)
    ledger.caught({ code: 7 }, CATCH)
    expect(sums(ledger)).toMatchObject({ raised: 1, rescued: { 'src/a.ts:3:1': 1 } })
  })

  test('counts equal thrown strings separately once each is caught', () => {
    const { ledger } = ledgerAt()
    for (let i = 0; i < 3; i++) {
      ledger.thrown(THROW, 'busy')
      ledger.caught('busy', CATCH)
    }
    ledger.caught('never seen', OUTER)
    expect(sums(ledger)).toEqual({ raised: 4, reported: 0, rescued: { 'src/a.ts:3:1': 3, 'src/a.ts:4:1': 1 } })
  })

  test('revokes the rescue of an error that a catch block replaces', () => {
    const { ledger } = ledgerAt()
    const errors = Array.from({ length: 10 }, () => new Error('x'))
    for (const error of errors) ledger.thrown(THROW, error)
    for (const error of errors) ledger.caught(error, CATCH)
    for (const error of errors.slice(3)) ledger.thrown(['src/a.ts:6:1#new', error], new TypeError('instead'))
    expect(sums(ledger)).toEqual({ raised: 17, reported: 0, rescued: { 'src/a.ts:3:1': 3 } })
  })

  test('does not run getters of errors', () => {
    const { ledger } = ledgerAt()
    const calls: string[] = []
    const error = new Error('x')
    for (const key of ['cause', 'errors', 'suppressed', 'error', 'code', 'name', 'message', 'constructor']) {
      Object.defineProperty(error, key, { get: () => calls.push(key) })
    }
    const aggregate = new AggregateError([new Error('y')])
    Object.defineProperty(aggregate.errors, 0, { get: () => calls.push('0') })
    for (const value of [error, aggregate]) {
      ledger.thrown(THROW, value)
      ledger.caught(value, CATCH)
      ledger.reported(value)
    }
    expect(calls).toEqual([])
    expect(sums(ledger)).toEqual({ raised: 2, reported: 2, rescued: {} })
  })

  test('returns classes and functions with properties unwrapped', () => {
    const { ledger } = ledgerAt()
    class Handler {}
    function Old() {}
    Old.prototype.handle = () => {}
    const inspections: unknown[] = []
    const proxy = new Proxy(() => {}, {
      ownKeys: (target) => Reflect.ownKeys(target).concat(String(inspections.push(1))),
    })
    for (const handler of [Handler, Old, Object.assign(() => {}, { tag: 1 }), proxy, Number]) {
      expect(ledger.handler(CATCH, handler)).toBe(handler)
    }
    expect(inspections).toEqual([])
    for (const handler of [() => {}, async () => {}, function named() {}, parseInt, (() => {}).bind(null)]) {
      expect(ledger.handler(CATCH, handler)).not.toBe(handler)
    }
  })

  test('never throws and calls a wrapped handler with its receiver', () => {
    const { ledger } = ledgerAt()
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const hostile = Object.defineProperty({}, 'constructor', {
      get() {
        throw new Error('no')
      },
    })
    for (const value of [proxy, hostile, null, undefined, Symbol('x'), Object.freeze(new Error('x')), () => {}]) {
      expect(ledger.thrown(THROW, value)).toBe(value)
      ledger.caught(value, CATCH)
      ledger.reported(value)
    }
    const handler = ledger.handler(CATCH, function (this: unknown, error: unknown) {
      return [this, error]
    }) as (this: unknown, error: unknown) => unknown
    const error = new Error('x')
    expect(handler.call(7, error)).toEqual([7, error])
    expect(ledger.handler(CATCH, 'a value')).toBe('a value')
  })
})
