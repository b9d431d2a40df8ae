import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/notifications/channels/channel.js'
import { endingOf } from '../../../src/notifications/delivery/endings.js'
import { NOON } from '../../support/tracker.js'

const MINUTE = 60_000
const DAY = 1440 * MINUTE
const FAILED: Outcome = { state: 'failed', answer: '500' }
const BUSY: Outcome = { state: 'failed', answer: '429', rate_limited: true, after_ms: 7000 }

const endingAfter = (attempts: number, outcome: Outcome, { chance = 0.5, age = 0, stopped = false } = {}) =>
  endingOf({ attempts, created_at: NOON - age, stopped }, outcome, { now: () => NOON, random: () => chance })

const pauseOf = (ending: { run_at?: number }) => (ending.run_at ?? NOON) - NOON

describe('after a try', () => {
  test('what was sent is done, and what was refused has failed', () => {
    expect(endingAfter(0, { state: 'sent', answer: 'ok' })).toEqual({ state: 'sent', attempts: 1, answer: 'ok' })
    expect(endingAfter(0, { state: 'refused', answer: '404' })).toEqual({ state: 'failed', attempts: 1, answer: '404' })
  })

  test('what failed is tried again after growing pauses, five times in all', () => {
    const endings = [0, 1, 2, 3, 4].map((attempts) => endingAfter(attempts, FAILED))
    expect(endings.map(pauseOf)).toEqual([10_000, MINUTE, 5 * MINUTE, 30 * MINUTE, 0])
    expect(endings.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending', 'pending', 'failed'])
    expect(endings.map(({ attempts }) => attempts)).toEqual([1, 2, 3, 4, 5])
  })

  test('pauses differ by chance, so that what failed together is not tried again together', () => {
    expect(pauseOf(endingAfter(1, FAILED, { chance: 0 }))).toBe(48_000)
    expect(pauseOf(endingAfter(1, FAILED, { chance: 1 }))).toBe(72_000)
  })

  test('a receiver that names a time is not asked before it, and none beyond a day', () => {
    expect(pauseOf(endingAfter(0, { ...FAILED, after_ms: 90_000 }))).toBe(90_000)
    expect(pauseOf(endingAfter(0, { ...FAILED, after_ms: 1 }))).toBe(10_000)
    expect(pauseOf(endingAfter(0, { ...FAILED, after_ms: 1e12 }))).toBe(DAY)
  })

  test('one that was told too much pauses the channel, and for a day it uses up no try', () => {
    expect(endingAfter(4, BUSY)).toMatchObject({ state: 'pending', attempts: 4, paused_until: NOON + 7000 })
    expect(endingAfter(0, { ...BUSY, after_ms: 90_000 })).toMatchObject({
      run_at: NOON + 90_000,
      paused_until: NOON + 90_000,
    })
    expect(endingAfter(0, { ...BUSY, after_ms: 0 })).toMatchObject({ paused_until: NOON + 500 })
    expect(endingAfter(0, { state: 'failed', answer: '429', rate_limited: true })).toMatchObject({
      paused_until: NOON + 10_000,
    })
    expect(endingAfter(4, BUSY, { age: DAY })).toMatchObject({ state: 'failed', attempts: 5 })
  })

  test('a process that had to stop leaves it to the next, with all its tries', () => {
    expect(endingAfter(4, FAILED, { stopped: true })).toMatchObject({ state: 'pending', attempts: 4, run_at: NOON })
  })

  test('the answer is kept within bounds', () => {
    expect(endingAfter(0, { state: 'refused', answer: 'x'.repeat(10_000) }).answer).toHaveLength(500)
  })
})
