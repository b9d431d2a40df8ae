import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanText, nearestWord } from '../../src/model/text.js'

test('returns well-formed text without NUL and within the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 20 }), (text, limit) => {
      const clean = cleanText(`${text}\uD83D\0`, limit)
      expect(clean.isWellFormed()).toBe(true)
      expect(clean).not.toContain('\0')
      expect(clean.length).toBeLessThanOrEqual(Math.max(1, limit))
    }),
  )
})

test('does not change clean text', () => {
  expect(cleanText('Grüße 👋', 100)).toBe('Grüße 👋')
})

describe('nearestWord', () => {
  const knownWords = ['retention_days', 'sampling_rate', 'database']
  test('returns the nearest word', () => {
    expect(nearestWord('retentoin_days', knownWords)).toBe('retention_days')
    expect(nearestWord('samplingRate', knownWords)).toBe('sampling_rate')
    expect(nearestWord('databse', knownWords)).toBe('database')
  })
  test('returns undefined if no word is near', () => expect(nearestWord('colour', knownWords)).toBeUndefined())
})
