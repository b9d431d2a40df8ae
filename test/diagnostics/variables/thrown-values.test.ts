import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { ThrownValues } from '../../../src/diagnostics/variables/thrown-values.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
})

test('finds a thrown text on a machine that pauses the process for 100 ms, but not after a second', () => {
  const values = new ThrownValues<string>()
  values.store('out of stock', 'shop.js:1:1', () => 'variables')
  vi.advanceTimersByTime(100)
  expect(values.take('out of stock')).toBe('variables')
  expect(values.take('another text')).toBeNull()
  vi.advanceTimersByTime(1000)
  expect(values.take('out of stock')).toBeNull()
})

test('finds a thrown object at any time', () => {
  const values = new ThrownValues<string>()
  const thrown = new Error('out of stock')
  values.store(thrown, 'shop.js:1:1', () => 'variables')
  vi.advanceTimersByTime(60_000)
  expect(values.take(thrown)).toBe('variables')
  expect(values.take(new Error('out of stock'))).toBeNull()
})

test('keeps the data of the first throw until the object is taken or thrown again at the same location', () => {
  const values = new ThrownValues<string>()
  const thrown = new Error('out of stock')
  values.store(thrown, 'shop.js:1:1', () => 'first throw')
  values.store(thrown, 'shop.js:2:1', () => 'rethrown')
  expect(values.take(thrown)).toBe('first throw')
  values.store(thrown, 'shop.js:2:1', () => 'thrown after it was logged')
  expect(values.take(thrown)).toBe('thrown after it was logged')
})
