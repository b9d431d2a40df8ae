import { expect, test } from 'vitest'
import { ConcurrencyLimit } from '../../../../src/diagnostics/source/git/concurrency-limit.js'

test('a released slot goes to the waiting task before a new one', async () => {
  const limit = new ConcurrencyLimit({ maxRunning: 2, maxWaiting: 2 })
  const started: string[] = []
  const start = async (name: string) => (await limit.acquire()) && started.push(name)
  await Promise.all([start('a'), start('b')])
  const waiting = start('c')
  limit.release()
  const last = start('d')
  await waiting
  await new Promise(setImmediate)
  expect(started).toEqual(['a', 'b', 'c'])
  limit.release()
  await last
  expect(started).toEqual(['a', 'b', 'c', 'd'])
})

test('a task is rejected when too many wait, and accepted again when all have finished', async () => {
  const limit = new ConcurrencyLimit({ maxRunning: 1, maxWaiting: 1 })
  expect(await limit.acquire()).toBe(true)
  const waiting = limit.acquire()
  expect(await limit.acquire()).toBe(false)
  limit.release()
  expect(await waiting).toBe(true)
  limit.release()
  expect(await limit.acquire()).toBe(true)
})
