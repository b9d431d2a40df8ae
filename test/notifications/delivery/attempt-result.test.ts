import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/notifications/channels/channel.js'
import { attemptResult } from '../../../src/notifications/delivery/attempt-result.js'
import { NOON } from '../../support/tracker.js'

const MINUTE = 60_000
const DAY = 1440 * MINUTE
const FAILED: Outcome = { state: 'failed', response: '500' }
const BUSY: Outcome = { state: 'failed', response: '429', rate_limited: true, after_ms: 7000 }

const resultAfter = (attempts: number, outcome: Outcome, { chance = 0.5, age = 0, isStopped = false } = {}) =>
  attemptResult({ attempts, created_at: NOON - age, isStopped }, outcome, { now: () => NOON, random: () => chance })

const retryDelay = (result: { run_at?: number }) => (result.run_at ?? NOON) - NOON

describe('the result of an attempt', () => {
  test('finishes a delivery that was sent or permanently rejected', () => {
    expect(resultAfter(0, { state: 'sent', response: 'ok' })).toEqual({ state: 'sent', attempts: 1, response: 'ok' })
    expect(resultAfter(0, { state: 'refused', response: '404' })).toEqual({
      state: 'failed',
      attempts: 1,
      response: '404',
    })
  })

  test('schedules retries with growing delays, five attempts in total', () => {
    const results = [0, 1, 2, 3, 4].map((attempts) => resultAfter(attempts, FAILED))
    expect(results.map(retryDelay)).toEqual([10_000, MINUTE, 5 * MINUTE, 30 * MINUTE, 0])
    expect(results.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending', 'pending', 'failed'])
    expect(results.map(({ attempts }) => attempts)).toEqual([1, 2, 3, 4, 5])
  })

  test('adds jitter to retry delays', () => {
    expect(retryDelay(resultAfter(1, FAILED, { chance: 0 }))).toBe(48_000)
    expect(retryDelay(resultAfter(1, FAILED, { chance: 1 }))).toBe(72_000)
  })

  test('honors Retry-After up to one day', () => {
    expect(retryDelay(resultAfter(0, { ...FAILED, after_ms: 90_000 }))).toBe(90_000)
    expect(retryDelay(resultAfter(0, { ...FAILED, after_ms: 1 }))).toBe(10_000)
    expect(retryDelay(resultAfter(0, { ...FAILED, after_ms: 1e12 }))).toBe(DAY)
  })

  test('pauses a rate-limited channel without counting attempts for a day', () => {
    expect(resultAfter(4, BUSY)).toMatchObject({ state: 'pending', attempts: 4, paused_until: NOON + 7000 })
    expect(resultAfter(0, { ...BUSY, after_ms: 90_000 })).toMatchObject({
      run_at: NOON + 90_000,
      paused_until: NOON + 90_000,
    })
    expect(resultAfter(0, { ...BUSY, after_ms: 0 })).toMatchObject({ paused_until: NOON + 500 })
    expect(resultAfter(0, { state: 'failed', response: '429', rate_limited: true })).toMatchObject({
      paused_until: NOON + 10_000,
    })
    expect(resultAfter(4, BUSY, { age: DAY })).toMatchObject({ state: 'failed', attempts: 5 })
  })

  test('does not count an attempt interrupted by a shutdown', () => {
    expect(resultAfter(4, FAILED, { isStopped: true })).toMatchObject({ state: 'pending', attempts: 4, run_at: NOON })
  })

  test('limits the length of the stored response', () => {
    expect(resultAfter(0, { state: 'refused', response: 'x'.repeat(10_000) }).response).toHaveLength(500)
  })
})
