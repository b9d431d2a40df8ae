import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeWithinLimit, oneLine, safeText, truncate } from '../../../src/notifications/content/safe-text.js'

describe('error text in a notification', () => {
  test('shows invisible characters as code points', () => {
    expect(safeText('invoice\u202Efdp.exe\u0000', 100)).toBe('invoice[U+202E]fdp.exe[U+0000]')
    expect(safeText('a\r\nb\u2028c\td', 100)).toBe('a\nb\nc\td')
    expect(safeText('half \uD83D of a pair', 100)).toBe('half \uFFFD of a pair')
    expect(oneLine(' a\r\n\r\nBcc: x ', 100)).toBe('a Bcc: x')
  })

  test('truncates text between characters', () => {
    expect(truncate('abc', 3)).toBe('abc')
    expect(truncate('abcd', 3)).toBe('ab…')
    expect(truncate('a😀😀', 3)).toBe('a…')
  })

  test('truncates escaped text without splitting an escape sequence', () => {
    expect(escapeWithinLimit('a&&', 7, (character) => (character === '&' ? '&amp;' : character))).toBe('a&amp;…')
    expect(escapeWithinLimit('a&', 6, (character) => (character === '&' ? '&amp;' : character))).toBe('a&amp;')
  })

  test('returns well-formed text within the limit and without invisible characters for random input', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 100 })
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 80 }), (text, limit) => {
        const shown = safeText(text, limit)
        expect(shown.length).toBeLessThanOrEqual(limit)
        expect(shown.isWellFormed()).toBe(true)
        expect(oneLine(text, limit)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
        expect(escapeWithinLimit(shown, limit, (character) => `\\${character}`).length).toBeLessThanOrEqual(limit)
      }),
    )
  })
})
