import { expect, test } from 'vitest'
import { Deprecations } from '../../src/capture/deprecations/deprecations.js'
import { deprecations } from '../../src/diagnostics/deprecations.js'
import { perform } from '../../src/operation.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { runningContext } from './running.js'

describeEachDatabase('a host that warns in a loop', (database) => {
  test('has few of its stacks read, and every warning counted where it came from last', async () => {
    const context = await runningContext(database, { project_root: '/srv/shop' })
    let now = NOON
    let read = 0
    const counted = new Deprecations({ ...context, now: () => now })
    const stackOf = (line: number) => () => {
      read++
      return `Error: old\n    at total (/srv/shop/src/cart.js:${line}:3)`
    }
    for (let i = 0; i < 500; i++) counted.note({ message: 'old', stack: stackOf(7) })
    expect(read).toBe(50)
    counted.note({ message: 'never seen', stack: stackOf(8) })
    now += 1000
    counted.note({ message: 'old', stack: stackOf(9) })
    expect(read).toBe(51)
    await context.tallies.flush()
    const found = await perform(deprecations, context, { days: 7 })
    const places = found.deprecations.map(({ message, count, places }) => [
      message,
      count,
      places.map((one) => one.count),
    ])
    expect(places.sort()).toEqual([
      ['never seen', 1, [1]],
      ['old', 501, [500, 1]],
    ])
    const [old] = found.deprecations
    expect(old?.places[0]?.place).toContain('cart.js:7')
  })

  test('in console lines costs no stack each either', async () => {
    const context = await runningContext(database)
    const counted = new Deprecations(context)
    const { captureStackTrace } = Error
    let taken = 0
    Error.captureStackTrace = (...values) => {
      taken++
      captureStackTrace(...values)
    }
    try {
      for (let i = 0; i < 500; i++) counted.noteLine('total() is deprecated')
    } finally {
      Error.captureStackTrace = captureStackTrace
    }
    expect(taken).toBe(50)
    await context.tallies.flush()
    const { deprecations: found } = await perform(deprecations, context, { days: 7 })
    expect(found).toMatchObject([{ count: 500, places: [{ count: 500 }] }])
  })
})
