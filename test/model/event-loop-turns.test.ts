import { expect, test } from 'vitest'
import { nextFreeIteration, nextTurn } from '../../src/model/event-loop-turns.js'
import { countIterations } from '../support/event-loop.js'

test('resumes one caller in every second event loop iteration, in order', async () => {
  const resumed: number[] = []
  const call = (i: number) => nextTurn().then(() => resumed.push(i))
  const iterations = await countIterations(() => Promise.all([call(1), call(2), call(3), call(4), call(5)]))
  expect(resumed).toEqual([1, 2, 3, 4, 5])
  expect(iterations).toBeGreaterThanOrEqual(9)
})

test('resumes callers that wait again after all other callers', async () => {
  const resumed: string[] = []
  const call = async (name: string) => {
    for (let i = 1; i <= 2; i++) {
      await nextTurn()
      resumed.push(`${name}${i}`)
    }
  }
  await Promise.all([call('a'), call('b')])
  expect(resumed).toEqual(['a1', 'b1', 'a2', 'b2'])
})

test('leaves an iteration to the host before a single caller resumes again', async () => {
  const iterations = await countIterations(async () => {
    for (let i = 0; i < 5; i++) await nextTurn()
  })
  expect(iterations).toBeGreaterThanOrEqual(9)
})

test('resumes priority work and waiting callers in different iterations', async () => {
  // Ends the iteration that the previous test leaves to the host, so that each iteration below starts with `count`.
  await new Promise((resume) => setImmediate(resume))
  let iteration = 0
  let isOver = false
  const count = () => {
    iteration++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const record = async (wait: () => Promise<void>) => {
    const resumedIn: number[] = []
    for (let i = 0; i < 5; i++) {
      await wait()
      resumedIn.push(iteration)
    }
    return resumedIn
  }
  const [turns, otherTurns, free] = await Promise.all([record(nextTurn), record(nextTurn), record(nextFreeIteration)])
  isOver = true
  expect(new Set([...turns, ...otherTurns]).size).toBe(10)
  for (const used of free) expect([...turns, ...otherTurns]).not.toContain(used)
  // Does not wait behind the other callers.
  expect(free.at(-1)).toBeLessThan(turns.at(-1) ?? 0)
})
