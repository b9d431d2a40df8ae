import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { logError } from '../../../src/capture/log-error.js'
import type { Context } from '../../../src/context.js'
import { LiveUpdates } from '../../../src/dashboard/live.js'
import { startRuntime } from '../../../src/runtime.js'
import { PASSWORD, USER } from '../../support/host.js'

/** Reads a stream into a list until it ends. */
function reading(stream: ReadableStream<Uint8Array>) {
  const read = { blocks: [] as string[], ended: false }
  void (async () => {
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>)
      read.blocks.push(new TextDecoder().decode(chunk))
    read.ended = true
  })()
  return read
}

async function opened() {
  const runtime = startRuntime(
    {
      database: 'sqlite::memory:',
      dashboard_username: USER,
      dashboard_password: PASSWORD,
      enable_error_subscriber: false,
      max_event_loop_lag_ms: null,
    },
    { now: Date.now, random: Math.random, env: {}, write: () => {} },
  )
  await runtime.context.ready()
  const live = new LiveUpdates(runtime.context)
  onTestFinished(async () => {
    vi.useRealTimers()
    live.close()
    await runtime.stop()
  })
  return { context: runtime.context, live }
}

describe('the stream of changes', () => {
  beforeEach(
    () =>
      void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
  )
  afterEach(() => void vi.useRealTimers())

  test('sends a heartbeat every 15 seconds', async () => {
    const { live } = await opened()
    const read = reading(live.open(undefined, { closing: () => false }))
    await vi.advanceTimersByTimeAsync(46_000)
    expect(read.blocks.filter((block) => block.startsWith(':'))).toHaveLength(3)
    // The first event follows the first poll of the database, which the fake clock does not advance.
    await vi.waitFor(() => expect(read.blocks.filter((block) => block.includes('changed'))).toHaveLength(1), 5000)
  })

  test('ends a stream after five minutes, or after one minute if the adapter cannot report that the host is closing', async () => {
    const { live } = await opened()
    const known = reading(live.open(undefined, { closing: () => false }))
    const unknown = reading(live.open())
    await vi.advanceTimersByTimeAsync(59_000)
    expect([known.ended, unknown.ended]).toEqual([false, false])
    await vi.advanceTimersByTimeAsync(2000)
    expect([known.ended, unknown.ended]).toEqual([false, true])
    await vi.advanceTimersByTimeAsync(240_000)
    expect(known.ended).toBe(true)
  })

  test('ends a stream after one minute if the credentials can be revoked, so that the browser signs in again', async () => {
    const { live } = await opened()
    const read = reading(live.open(undefined, { closing: () => false, isRevocable: true }))
    await vi.advanceTimersByTimeAsync(61_000)
    expect(read.ended).toBe(true)
  })

  test('ends a stream within a second when the host closes or the request is aborted', async () => {
    const { live } = await opened()
    const gone = new AbortController()
    let closing = false
    const read = [reading(live.open(undefined, { closing: () => closing })), reading(live.open(gone.signal))]
    gone.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(read.map(({ ended }) => ended)).toEqual([false, true])
    closing = true
    await vi.advanceTimersByTimeAsync(1000)
    expect(read.map(({ ended }) => ended)).toEqual([true, true])
    const late = reading(live.open(gone.signal))
    await vi.advanceTimersByTimeAsync(0)
    expect(late.ended).toBe(true)
  })

  test('sends at most one event per second and always sends the last change', async () => {
    const { live } = await opened()
    const read = reading(live.open(undefined, { closing: () => false }))
    for (let i = 0; i < 100; i++) {
      live.notify()
      await vi.advanceTimersByTimeAsync(50)
      // Database results arrive in event-loop turns that the fake clock does not advance.
      await turn()
    }
    await vi.advanceTimersByTimeAsync(2000)
    const eventCount = read.blocks.filter((block) => block.includes('changed')).length
    expect(eventCount).toBeGreaterThanOrEqual(5)
    expect(eventCount).toBeLessThanOrEqual(7)
  })

  test('runs no timer without subscribers', async () => {
    const { live } = await opened()
    const before = vi.getTimerCount()
    const stream = live.open()
    live.notify()
    expect(vi.getTimerCount()).toBeGreaterThan(before)
    await stream.cancel()
    live.notify()
    expect(vi.getTimerCount()).toBe(before)
  })

  test('refuses the stream of changes after close', async () => {
    const { live } = await opened()
    live.close()
    expect(() => live.open()).toThrow('shut down')
  })
})

test('sends one event for a change of its own process', async () => {
  const { context, live } = await opened()
  const read = reading(live.open(undefined, { closing: () => false }))
  // The retry interval and the event that every stream starts with.
  await vi.waitFor(() => expect(read.blocks).toHaveLength(2), 5000)
  await recorded(context)
  await vi.waitFor(() => expect(read.blocks).toHaveLength(3), 5000)
  // Longer than the polling interval of the database.
  await new Promise((resume) => setTimeout(resume, 4500))
  expect(read.blocks).toHaveLength(3)
})

test('does not keep the process alive', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const { live } = await opened()
  const before = timers()
  live.open()
  live.notify()
  expect(timers()).toBe(before)
})

async function recorded(context: Context): Promise<void> {
  await logError(context as never, { error_type: 'E', message: 'm' })
}
