import { describe, expect, test } from 'vitest'
// @ts-expect-error The scripts have no types.
import { readArguments } from '../../bench/arguments.mjs'
// @ts-expect-error The scripts have no types.
import { createProgress } from '../../bench/harness/progress.mjs'
// @ts-expect-error The scripts have no types.
import { estimateMinutes } from '../../bench/suites.mjs'

const MINUTE = 60_000

describe('createProgress', () => {
  test('prints the plan, each table, and the remaining time at the pace of the finished suites', async () => {
    const lines: string[] = []
    let time = 0
    const plan = ['capture', 'write'].map((suite) => ({ suite, minutes: 4 }))
    const progress = createProgress({ plan, print: (line: string) => lines.push(line), now: () => time })
    const tableOf = (minutes: number) => async () => {
      time += minutes * MINUTE
      return ['row']
    }
    progress.printPlan()
    progress.startSuite()
    expect(await progress.measureTable('Cost', tableOf(8))).toEqual({ rows: ['row'], seconds: 480 })
    progress.endSuite()
    progress.startSuite()
    await progress.measureTable('Writing', tableOf(6.6))
    expect(lines).toEqual([
      'Estimated duration: about 8 min (capture 4, write 4)',
      '[0:00] capture: Cost, about 8 min left',
      '[8:00] capture: Cost took 480 s, about 4 min left',
      '[8:00] write: Writing, about 7 min left',
      '[14:36] write: Writing took 396 s, less than a minute left',
    ])
  })

  test('adds up the repetitions of a suite in the plan', () => {
    const lines: string[] = []
    const plan = Array.from({ length: 3 }, () => ({ suite: 'capture', minutes: 1.5 }))
    createProgress({ plan, print: (line: string) => lines.push(line) }).printPlan()
    expect(lines).toEqual(['Estimated duration: about 5 min (capture 4.5)'])
  })
})

test('a full run without on-demand suites is estimated at 40 minutes or less', () => {
  const minutes = Object.keys(readArguments([], null).modes).map((suite) =>
    estimateMinutes(suite, { quick: false, large: false }),
  )
  expect(minutes.every((value) => value > 0)).toBe(true)
  expect(minutes.reduce((sum, value) => sum + value)).toBeLessThanOrEqual(40)
})
