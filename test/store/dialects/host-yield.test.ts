import { expect, test } from 'vitest'
import { HostYield } from '../../../src/store/dialects/host-yield.js'
import { countIterations } from '../../support/event-loop.js'

/** Blocks the thread. An asynchronous wait would yield. */
function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Counts the event loop iterations during some queries with work in between. */
function turnsDuring(turn: HostYield, queries: number, ms: number): Promise<number> {
  return countIterations(async () => {
    for (let i = 0; i < queries; i++) {
      await turn.yieldIfDue()
      work(ms)
    }
  })
}

test('yields to the host between queries that together take long', async () => {
  expect(await turnsDuring(new HostYield(), 5, 10)).toBeGreaterThanOrEqual(4)
})

test('adds up the time of concurrent callers', async () => {
  const turn = new HostYield()
  const [turns] = await Promise.all([turnsDuring(turn, 4, 6), turnsDuring(turn, 4, 6)])
  expect(turns).toBeGreaterThanOrEqual(2)
})

test('does not yield for a few short queries', async () => {
  // A busy machine may suspend the thread for longer than the limit.
  expect(await turnsDuring(new HostYield(), 9, 0)).toBeLessThan(4)
})
