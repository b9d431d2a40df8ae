import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cut, escapedWithin, legible, oneLine } from '../../../src/notifications/content/legible.js'

describe('text of an error in a message', () => {
  test('is shown with what cannot be seen spelled out', () => {
    expect(legible('invoice\u202Efdp.exe\u0000', 100)).toBe('invoice[U+202E]fdp.exe[U+0000]')
    expect(legible('a\r\nb\u2028c\td', 100)).toBe('a\nb\nc\td')
    expect(legible('half \uD83D of a pair', 100)).toBe('half \uFFFD of a pair')
    expect(oneLine(' a\r\n\r\nBcc: x ', 100)).toBe('a Bcc: x')
  })

  test('is cut between characters', () => {
    expect(cut('abc', 3)).toBe('abc')
    expect(cut('abcd', 3)).toBe('ab…')
    expect(cut('a😀😀', 3)).toBe('a…')
  })

  test('is escaped without cutting an escape in two', () => {
    expect(escapedWithin('a&&', 7, (one) => (one === '&' ? '&amp;' : one))).toBe('a&amp;…')
    expect(escapedWithin('a&', 6, (one) => (one === '&' ? '&amp;' : one))).toBe('a&amp;')
  })

  test('is always whole, within its bound and free of what cannot be seen', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 100 })
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 80 }), (text, limit) => {
        const shown = legible(text, limit)
        expect(shown.length).toBeLessThanOrEqual(limit)
        expect(shown.isWellFormed()).toBe(true)
        expect(oneLine(text, limit)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
        expect(escapedWithin(shown, limit, (one) => `\\${one}`).length).toBeLessThanOrEqual(limit)
      }),
    )
  })
})
