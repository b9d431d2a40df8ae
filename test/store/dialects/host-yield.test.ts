import { expect, test } from 'vitest'
import { HostYield } from '../../../src/store/dialects/host-yield.js'

/** Keeps the thread busy; a wait would give the turn that is looked for. */
function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** How many turns the host had while something asked so often, working between two questions. */
async function turnsDuring(turn: HostYield, questions: number, ms: number): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  for (let i = 0; i < questions; i++) {
    await turn.yieldIfDue()
    work(ms)
  }
  isOver = true
  return turns
}

test('the host has its turn between questions that together take long', async () => {
  expect(await turnsDuring(new HostYield(), 5, 10)).toBeGreaterThanOrEqual(4)
})

test('questions that two ask at the same time are long together', async () => {
  const turn = new HostYield()
  const [turns] = await Promise.all([turnsDuring(turn, 4, 6), turnsDuring(turn, 4, 6)])
  expect(turns).toBeGreaterThanOrEqual(2)
})

test('a few short questions wait for nobody', async () => {
  // A busy machine may take the thread away for as long as would be waited for.
  expect(await turnsDuring(new HostYield(), 9, 0)).toBeLessThan(4)
})
