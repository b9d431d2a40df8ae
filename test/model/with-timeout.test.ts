import { spawnSync } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { STOPPED_MESSAGE, withTimeout } from '../../src/model/with-timeout.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const source = readFileSync('src/model/with-timeout.ts', 'utf8')
const withTimeoutScript = transformSync(source, { loader: 'ts' }).code

const never = new Promise<never>(() => {})

test('settles like a promise that is in time and leaves no timer', async () => {
  expect(await withTimeout(Promise.resolve(7), 1000)).toBe(7)
  await expect(withTimeout(Promise.reject(new Error('refused')), 1000)).rejects.toThrow('refused')
  expect(vi.getTimerCount()).toBe(0)
})

test('rejects after the timeout, with a custom message if set', async () => {
  const late = expect(withTimeout(never, 3000)).rejects.toThrow('no response within 3 seconds')
  const named = expect(withTimeout(never, 3000, { message: 'redis is silent' })).rejects.toThrow('redis is silent')
  await vi.advanceTimersByTimeAsync(3000)
  await Promise.all([late, named])
  expect(vi.getTimerCount()).toBe(0)
})

test('rejects when the signal aborts, before or during the wait, and keeps no listener', async () => {
  const stopping = new AbortController()
  const during = expect(withTimeout(never, 3000, { signal: stopping.signal })).rejects.toThrow(STOPPED_MESSAGE)
  stopping.abort()
  await during
  await expect(withTimeout(never, 3000, { signal: stopping.signal })).rejects.toThrow(STOPPED_MESSAGE)
  const { signal } = new AbortController()
  await withTimeout(Promise.resolve(7), 3000, { signal })
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('ignores a rejection that arrives after the timeout', async () => {
  const slow = new Promise((_, reject) => setTimeout(() => reject(new Error('too late')), 2000))
  const result = expect(withTimeout(slow, 1000)).rejects.toThrow('no response within 1 seconds')
  await vi.advanceTimersByTimeAsync(5000)
  await result
})

test('keeps the process alive only with keepAlive', () => {
  const run = (options: string) => {
    const call = `withTimeout(new Promise(() => {}), 50, ${options}).catch(() => console.log('timed out'))`
    const script = `${withTimeoutScript}\n${call}`
    return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout.trim()
  }
  expect(run('{ keepAlive: true }')).toBe('timed out')
  expect(run('{}')).toBe('')
})
