import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Counters } from '../../src/model/counters.js'
import { normalizePlatform } from '../../src/model/requests/platform.js'
import { cleanText, nearestWord } from '../../src/model/text.js'
import { isResolved, isSnoozed, STATUSES } from '../../src/model/workflow.js'

test('clean text is well-formed, without NUL and never longer than its limit, whatever it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 20 }), (text, limit) => {
      const clean = cleanText(`${text}\uD83D\0`, limit)
      expect(clean.isWellFormed()).toBe(true)
      expect(clean).not.toContain('\0')
      expect(clean.length).toBeLessThanOrEqual(Math.max(1, limit))
    }),
  )
})

test('text that needs no cleaning stays the same', () => {
  expect(cleanText('Grüße 👋', 100)).toBe('Grüße 👋')
})

describe('the word that was meant', () => {
  const known = ['retention_days', 'sampling_rate', 'database']
  test('is the nearest', () => {
    expect(nearestWord('retentoin_days', known)).toBe('retention_days')
    expect(nearestWord('samplingRate', known)).toBe('sampling_rate')
    expect(nearestWord('databse', known)).toBe('database')
  })
  test('is none when no known word is near', () => expect(nearestWord('colour', known)).toBeUndefined())
})

test('clients may send lowercase forms of a platform; free text stays as it is', () => {
  expect(['ios', 'ANDROID', 'web', 'api', 'Watch', '__proto__'].map(normalizePlatform)).toEqual([
    'iOS',
    'Android',
    'Web',
    'API',
    'Watch',
    '__proto__',
  ])
  expect(normalizePlatform(undefined)).toBe('API')
})

test('resolved is true exactly when the status is resolved or wont_fix', () => {
  expect(STATUSES.filter(isResolved)).toEqual(['resolved', 'wont_fix'])
  expect(STATUSES).toEqual(['new', 'investigating', 'in_progress', 'resolved', 'wont_fix'])
})

test('a snooze ends at its time', () => {
  expect([isSnoozed(null, 5), isSnoozed(6, 5), isSnoozed(5, 5), isSnoozed(4, 5)]).toEqual([false, true, false, false])
})

test('what was dropped is counted by reason', () => {
  const counters = new Counters()
  counters.add('sampled_out')
  counters.add('ignored', 2)
  counters.add('sampled_out')
  counters.add('__proto__')
  expect(JSON.parse(JSON.stringify(counters))).toEqual(JSON.parse('{"__proto__":1,"ignored":2,"sampled_out":2}'))
})
