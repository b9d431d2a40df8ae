import { expect, test } from 'vitest'
import { DeprecationCounter } from '../../../src/diagnostics/deprecations/collector.js'
import { deprecations } from '../../../src/diagnostics/deprecations/query.js'
import { perform } from '../../../src/operation.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { runningContext } from '../running.js'

describeEachDatabase('deprecation warnings in a loop', (database) => {
  test('counts every deprecation warning of a loop at the last known location, with a limited number of stack reads', async () => {
    const context = await runningContext(database, { project_root: '/srv/shop' })
    let now = NOON
    let read = 0
    const counted = new DeprecationCounter({ ...context, now: () => now })
    const stackOf = (line: number) => () => {
      read++
      return `Error: old\n    at total (/srv/shop/src/cart.js:${line}:3)`
    }
    for (let i = 0; i < 500; i++) counted.count({ message: 'old', stack: stackOf(7) })
    expect(read).toBe(50)
    counted.count({ message: 'never seen', stack: stackOf(8) })
    now += 1000
    counted.count({ message: 'old', stack: stackOf(9) })
    expect(read).toBe(51)
    await context.tallies.flush()
    const found = await perform(deprecations, context, { days: 7 })
    const places = found.deprecations.map(({ message, count, places }) => [
      message,
      count,
      places.map((place) => place.count),
    ])
    expect(places.sort()).toEqual([
      ['never seen', 1, [1]],
      ['old', 501, [500, 1]],
    ])
    const [old] = found.deprecations
    expect(old?.places[0]?.place).toContain('cart.js:7')
  })

  test('also reads a limited number of stacks for console lines', async () => {
    const context = await runningContext(database)
    const counted = new DeprecationCounter(context)
    const line = {
      category: 'console',
      message: 'total() is deprecated',
      metadata: { level: 'warn' },
      occurred_at: NOON,
    }
    const { captureStackTrace } = Error
    let captureCount = 0
    Error.captureStackTrace = (...values) => {
      captureCount++
      captureStackTrace(...values)
    }
    try {
      for (let i = 0; i < 500; i++) counted.countBreadcrumb(line)
    } finally {
      Error.captureStackTrace = captureStackTrace
    }
    expect(captureCount).toBe(50)
    await context.tallies.flush()
    const { deprecations: found } = await perform(deprecations, context, { days: 7 })
    expect(found).toMatchObject([{ count: 500, places: [{ count: 500 }] }])
  })
})
