import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Ledger } from '../../../../src/diagnostics/swallowed/detection/ledger.js'
import { HOUR, hourOf } from '../../../../src/model/time.js'
import { NOON } from '../../../support/tracker.js'

const THROW = 'src/a.ts:1:1#made'
const RETHROW = 'src/a.ts:2:1#rethrow'
const CATCH = 'src/a.ts:3:1#empty'
const OUTER = 'src/a.ts:4:1#logs'

function ledgerAt(max_tallies = 1000) {
  const clock = { now: NOON }
  const read: object[] = []
  const locate = (error: object) => {
    read.push(error)
    return 'src/far.ts:9:9'
  }
  return { ledger: new Ledger({ now: () => clock.now, locate, max_tallies }), clock, read }
}

/** What was taken, as sums of each kind. */
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
  test('agrees with what a person would write down, whenever it is asked', () => {
    const step = fc.constantFrom<Step>('throw', 'rethrow', 'catch', 'outer', 'report')
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(4), step, fc.boolean()), { maxLength: 60 }), (steps) => {
        const { ledger } = ledgerAt()
        const errors = Array.from({ length: 5 }, () => new Error('x'))
        const known = new Map<Error, { where: string | null; reported: boolean }>()
        const settled: string[] = []
        let expected = { raised: 0, reported: 0 }
        const found = { raised: 0, reported: 0, rescued: new Map<string, number>() }
        const take = () => {
          const { raised, reported, rescued } = sums(ledger)
          found.raised += raised
          found.reported += reported
          for (const [place, count] of Object.entries(rescued)) {
            found.rescued.set(place, (found.rescued.get(place) ?? 0) + count)
          }
        }
        for (const [i, what, asked] of steps) {
          const error = errors[i] as Error
          const state = known.get(error)
          const isDealtWith = state !== undefined && (state.where !== null || state.reported)
          if (what === 'throw') {
            ledger.thrown(THROW, error)
            if (!state || isDealtWith) {
              expected = { ...expected, raised: expected.raised + 1 }
              // What was swallowed before stays swallowed: this is another throw of the same object.
              if (state?.where) settled.push(state.where)
              known.set(error, { where: null, reported: false })
            }
          } else if (what === 'rethrow') {
            ledger.thrown(RETHROW, error)
            if (state) state.where = null
          } else if (what === 'report') {
            ledger.reported(error)
            if (!state) expected = { ...expected, raised: expected.raised + 1 }
            if (!state?.reported) expected = { ...expected, reported: expected.reported + 1 }
            known.set(error, { where: null, reported: true })
          } else {
            const mark = what === 'catch' ? CATCH : OUTER
            ledger.caught(error, mark)
            if (!state) expected = { ...expected, raised: expected.raised + 1 }
            if (!state?.reported) known.set(error, { where: mark.split('#')[0] ?? '', reported: false })
          }
          if (asked) take()
        }
        take()
        const rescued = new Map<string, number>()
        for (const where of [...settled, ...[...known.values()].map((one) => one.where)]) {
          if (where) rescued.set(where, (rescued.get(where) ?? 0) + 1)
        }
        expect({ raised: found.raised, reported: found.reported }).toEqual(expected)
        expect([...found.rescued].filter(([, count]) => count !== 0).sort()).toEqual([...rescued].sort())
      }),
      { numRuns: 500 },
    )
  })

  test('counts in the hour of the throw what is caught, reported or taken back later', () => {
    const { ledger, clock } = ledgerAt()
    const [swallowed, told] = [new Error('a'), new Error('b')]
    ledger.thrown(THROW, swallowed)
    ledger.thrown(THROW, told)
    ledger.caught(told, CATCH)
    const first = ledger.take().rows
    clock.now += HOUR
    ledger.caught(swallowed, CATCH)
    ledger.reported(told)
    const second = ledger.take().rows
    expect([...first, ...second].map(({ hour }) => hour)).toEqual([...first, ...second].map(() => hourOf(NOON)))
    expect(second.map((row) => [row.rescue_location, row.rescue_count, row.reported_count])).toEqual([['', 0, 1]])
  })

  test('gives up the places that were met longest ago, and tells how many', () => {
    const { ledger } = ledgerAt(10)
    for (let i = 0; i < 25; i++) ledger.thrown(`src/a.ts:${i}:1#made`, new Error('x'))
    const { rows, lost } = ledger.take()
    expect(rows.map(({ raise_location }) => raise_location)).toEqual(
      Array.from({ length: 10 }, (_, i) => `src/a.ts:${i + 15}:1`),
    )
    expect(lost).toBe(15)
    expect(ledger.take()).toEqual({ rows: [], lost: 0 })
  })

  test('does not count what may be swallowed', () => {
    const { ledger } = ledgerAt()
    ledger.configure({ now: () => NOON, locate: () => null, max_tallies: 10, ignored: ['Declined'] })
    class Declined extends Error {}
    for (const error of [new Declined(''), new DOMException('', 'AbortError'), { code: 'EPIPE' }]) {
      ledger.thrown(THROW, error)
      ledger.caught(error, CATCH)
    }
    expect(ledger.size).toBe(0)
  })

  test('reads so many stacks a second and no more', () => {
    const { ledger, read } = ledgerAt()
    for (let i = 0; i < 1000; i++) ledger.caught(new Error('from elsewhere'), CATCH)
    const places = new Set(ledger.take().rows.map(({ raise_location }) => raise_location))
    // The second may end meanwhile, and another begin.
    expect(read.length).toBeLessThan(1000)
    expect(places).toEqual(new Set(['src/far.ts:9:9', '~src/a.ts:3:1']))
  })

  test('takes nothing for an error that only has a catch of its own kind', () => {
    const { ledger } = ledgerAt()
    ledger.caught({ input: 7 }, 'src/a.ts:5:1#value@promise')
    expect(ledger.size).toBe(0)
    ledger.caught({ code: 7 }, CATCH)
    expect(sums(ledger)).toMatchObject({ raised: 1, rescued: { 'src/a.ts:3:1': 1 } })
  })

  test('tells the throws of equal texts apart by who caught the last', () => {
    const { ledger } = ledgerAt()
    for (let i = 0; i < 3; i++) {
      ledger.thrown(THROW, 'busy')
      ledger.caught('busy', CATCH)
    }
    ledger.caught('never seen', OUTER)
    expect(sums(ledger)).toEqual({ raised: 4, reported: 0, rescued: { 'src/a.ts:3:1': 3, 'src/a.ts:4:1': 1 } })
  })

  test('takes back what a catch block has thrown another error instead of, and no other', () => {
    const { ledger } = ledgerAt()
    const errors = Array.from({ length: 10 }, () => new Error('x'))
    for (const error of errors) ledger.thrown(THROW, error)
    for (const error of errors) ledger.caught(error, CATCH)
    for (const error of errors.slice(3)) ledger.thrown(['src/a.ts:6:1#made', error], new TypeError('instead'))
    expect(sums(ledger)).toEqual({ raised: 17, reported: 0, rescued: { 'src/a.ts:3:1': 3 } })
  })

  test('runs no getter of what it counts', () => {
    const { ledger } = ledgerAt()
    const run: string[] = []
    const error = new Error('x')
    for (const key of ['cause', 'errors', 'suppressed', 'error', 'code', 'name', 'message', 'constructor']) {
      Object.defineProperty(error, key, { get: () => run.push(key) })
    }
    const gathering = new AggregateError([new Error('y')])
    Object.defineProperty(gathering.errors, 0, { get: () => run.push('0') })
    for (const value of [error, gathering]) {
      ledger.thrown(THROW, value)
      ledger.caught(value, CATCH)
      ledger.reported(value)
    }
    expect(run).toEqual([])
    expect(sums(ledger)).toEqual({ raised: 2, reported: 2, rescued: {} })
  })

  test('hands over as they are a class and a function that carries something', () => {
    const { ledger } = ledgerAt()
    class Handler {}
    function Old() {}
    Old.prototype.handle = () => {}
    const looked: unknown[] = []
    const watched = new Proxy(() => {}, { ownKeys: (target) => Reflect.ownKeys(target).concat(String(looked.push(1))) })
    for (const one of [Handler, Old, Object.assign(() => {}, { tag: 1 }), watched, Number]) {
      expect(ledger.handler(CATCH, one)).toBe(one)
    }
    expect(looked).toEqual([])
    for (const one of [() => {}, async () => {}, function named() {}, parseInt, (() => {}).bind(null)]) {
      expect(ledger.handler(CATCH, one)).not.toBe(one)
    }
  })

  test('never throws, and hands a handler over as it is', () => {
    const { ledger } = ledgerAt()
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const evil = Object.defineProperty({}, 'constructor', {
      get() {
        throw new Error('no')
      },
    })
    for (const value of [proxy, evil, null, undefined, Symbol('x'), Object.freeze(new Error('x')), () => {}]) {
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
