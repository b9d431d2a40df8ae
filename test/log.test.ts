import { expect, test } from 'vitest'
import { createLog } from '../src/log.js'

test('writes a repeated message again after a minute, and after the clock is set back', () => {
  const lines: string[] = []
  let time = 1_000_000_000
  const { warn } = createLog(
    () => time,
    (line) => lines.push(line),
  )
  const countAfter = (change: number) => {
    time += change
    warn('The database does not respond.')
    return lines.length
  }
  expect([0, 59_999, 1, -1000, -60_000].map(countAfter)).toEqual([1, 1, 2, 2, 3])
})
