import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/notifications/channels/channel.js'
import { attemptResult } from '../../../src/notifications/delivery/attempt-result.js'
import { NOON } from '../../support/tracker.js'

const MINUTE = 60_000
const DAY = 1440 * MINUTE
const FAILED: Outcome = { state: 'failed', response: '500' }
const BUSY: Outcome = { state: 'failed', response: '429', rate_limited: true, after_ms: 7000 }

const endingAfter = (attempts: number, outcome: Outcome, { chance = 0.5, age = 0, isStopped = false } = {}) =>
  attemptResult({ attempts, created_at: NOON - age, isStopped }, outcome, { now: () => NOON, random: () => chance })

const pauseOf = (ending: { run_at?: number }) => (ending.run_at ?? NOON) - NOON

describe('the result of an attempt', () => {
  test('ends the delivery when it was sent or permanently rejected', () => {
    expect(endingAfter(0, { state: 'sent', response: 'ok' })).toEqual({ state: 'sent', attempts: 1, response: 'ok' })
    expect(endingAfter(0, { state: 'refused', response: '404' })).toEqual({
      state: 'failed',
      attempts: 1,
      response: '404',
    })
  })

  test('schedules retries with growing delays, five attempts in total', () => {
    const endings = [0, 1, 2, 3, 4].map((attempts) => endingAfter(attempts, FAILED))
    expect(endings.map(pauseOf)).toEqual([10_000, MINUTE, 5 * MINUTE, 30 * MINUTE, 0])
    expect(endings.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending', 'pending', 'failed'])
    expect(endings.map(({ attempts }) => attempts)).toEqual([1, 2, 3, 4, 5])
  })

  test('adds jitter, so that simultaneous failures do not retry together', () => {
    expect(pauseOf(endingAfter(1, FAILED, { chance: 0 }))).toBe(48_000)
    expect(pauseOf(endingAfter(1, FAILED, { chance: 1 }))).toBe(72_000)
  })

  test('honors Retry-After up to one day', () => {
    expect(pauseOf(endingAfter(0, { ...FAILED, after_ms: 90_000 }))).toBe(90_000)
    expect(pauseOf(endingAfter(0, { ...FAILED, after_ms: 1 }))).toBe(10_000)
    expect(pauseOf(endingAfter(0, { ...FAILED, after_ms: 1e12 }))).toBe(DAY)
  })

  test('pauses the channel when rate-limited, without counting the attempt for a day', () => {
    expect(endingAfter(4, BUSY)).toMatchObject({ state: 'pending', attempts: 4, paused_until: NOON + 7000 })
    expect(endingAfter(0, { ...BUSY, after_ms: 90_000 })).toMatchObject({
      run_at: NOON + 90_000,
      paused_until: NOON + 90_000,
    })
    expect(endingAfter(0, { ...BUSY, after_ms: 0 })).toMatchObject({ paused_until: NOON + 500 })
    expect(endingAfter(0, { state: 'failed', response: '429', rate_limited: true })).toMatchObject({
      paused_until: NOON + 10_000,
    })
    expect(endingAfter(4, BUSY, { age: DAY })).toMatchObject({ state: 'failed', attempts: 5 })
  })

  test('does not count an attempt that a shutdown interrupted', () => {
    expect(endingAfter(4, FAILED, { isStopped: true })).toMatchObject({ state: 'pending', attempts: 4, run_at: NOON })
  })

  test('limits the length of the stored response', () => {
    expect(endingAfter(0, { state: 'refused', response: 'x'.repeat(10_000) }).response).toHaveLength(500)
  })
})
