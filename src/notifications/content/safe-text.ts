const ELLIPSIS = '…'

/**
 * Makes text from an error safe to display: replaces control and bidirectional characters with their code points. Keeps
 * line breaks.
 *
 * safeText('invoice\u202Efdp.exe', 100) // 'invoice[U+202E]fdp.exe'
 */
export function safeText(text: string, limit: number): string {
  // Truncates first, because a message can be arbitrarily long.
  const visible = truncate(text, limit)
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, codePointLabel)
  return truncate(visible, limit)
}

/** Like `safeText`, but collapsed to one line for subjects and titles. */
export function oneLine(text: string, limit: number): string {
  return truncate(
    safeText(text, 2 * limit)
      .replace(/\s+/g, ' ')
      .trim(),
    limit,
  )
}

/** Zero-width space. Invisible, but prevents mentions and links from being recognized. */
export const ZERO_WIDTH_BREAK = '\u200B'

/** Prevents mail clients and chats from linking URLs in error messages, which may be malicious. */
export function withoutLinks(text: string): string {
  return text
    .replaceAll('://', `:${ZERO_WIDTH_BREAK}//`)
    .replace(/\bwww\./gi, (www) => `${www.slice(0, -1)}${ZERO_WIDTH_BREAK}.`)
}

/** Escapes character by character up to the limit, so that no escape sequence is cut in half. */
export function escapeWithinLimit(text: string, limit: number, escapeCharacter: (character: string) => string): string {
  let escaped = ''
  let withEllipsisRoom = ''
  for (const character of text) {
    escaped += escapeCharacter(character)
    if (escaped.length > limit) return withEllipsisRoom + ELLIPSIS
    if (escaped.length <= limit - ELLIPSIS.length) withEllipsisRoom = escaped
  }
  return escaped
}

export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text
  // Drops half of a surrogate pair at the end.
  return text.slice(0, Math.max(0, limit - ELLIPSIS.length)).replace(/[\uD800-\uDBFF]$/, '') + ELLIPSIS
}

function codePointLabel(character: string): string {
  if (character === '\n' || character === '\t') return character
  return `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`
}
