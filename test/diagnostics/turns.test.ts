import { expect, test } from 'vitest'
import { Turns } from '../../src/diagnostics/source/git/turns.js'

test('a place that is given up goes to whoever waits, though another asks at that very moment', async () => {
  const turns = new Turns({ at_once: 2, most_waiting: 2 })
  const at_work: string[] = []
  const come = async (name: string) => (await turns.take()) && at_work.push(name)
  await Promise.all([come('a'), come('b')])
  const waits = come('c')
  turns.give()
  const comes_late = come('d')
  await waits
  await new Promise(setImmediate)
  expect(at_work).toEqual(['a', 'b', 'c'])
  turns.give()
  await comes_late
  expect(at_work).toEqual(['a', 'b', 'c', 'd'])
})

test('where too many wait, one is sent away at once; when all have gone, there is room again', async () => {
  const turns = new Turns({ at_once: 1, most_waiting: 1 })
  expect(await turns.take()).toBe(true)
  const waits = turns.take()
  expect(await turns.take()).toBe(false)
  turns.give()
  expect(await waits).toBe(true)
  turns.give()
  expect(await turns.take()).toBe(true)
})
