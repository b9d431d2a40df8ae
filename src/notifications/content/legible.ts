const ELLIPSIS = '…'

/**
 * Text of an error as people may see it: whatever hides, reorders or breaks what stands around it is spelled out. Lines
 * stay lines.
 *
 *   legible('invoice\u202Efdp.exe', 100) // 'invoice[U+202E]fdp.exe'
 */
export function legible(text: string, limit: number): string {
  // Cut before anything looks at it: a message may be as long as the host's memory allows.
  const seen = cut(text, limit)
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, spelledOut)
  return cut(seen, limit)
}

/** The same in one line, as subjects and titles need it. */
export function oneLine(text: string, limit: number): string {
  return cut(
    legible(text, 2 * limit)
      .replace(/\s+/g, ' ')
      .trim(),
    limit,
  )
}

/** It cannot be seen, and nothing is recognised across it. */
export const BREAK = '\u200B'

/** Mail programs and chats turn an address into a link by themselves: one in the text of an error is anybody's. */
export function unlinked(text: string): string {
  return text.replaceAll('://', `:${BREAK}//`).replace(/\bwww\./gi, (www) => `${www.slice(0, -1)}${BREAK}.`)
}

/** Escaped character by character until the limit is reached, so that no escape is cut in two. */
export function escapedWithin(text: string, limit: number, asShown: (character: string) => string): string {
  let escaped = ''
  let with_room = ''
  for (const character of text) {
    escaped += asShown(character)
    if (escaped.length > limit) return with_room + ELLIPSIS
    if (escaped.length <= limit - ELLIPSIS.length) with_room = escaped
  }
  return escaped
}

export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  // Half of a surrogate pair at the end would become a character that nobody wrote.
  return text.slice(0, Math.max(0, limit - ELLIPSIS.length)).replace(/[\uD800-\uDBFF]$/, '') + ELLIPSIS
}

function spelledOut(character: string): string {
  if (character === '\n' || character === '\t') return character
  return `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`
}
