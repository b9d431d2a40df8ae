import type { Rendered } from '../define.js'

/** Text in which matches of a search are marked, in any letter case. */
export function Marked({ text, matches }: { text: string; matches: readonly string[] }): Rendered {
  if (matches.length === 0) return text
  // The longest match first, because a shorter match may be a prefix of a longer match.
  const patterns = [...matches].sort((a, b) => b.length - a.length).map(escapePattern)
  // The parentheses keep the matches, at the odd positions.
  const parts = text.split(new RegExp(`(${patterns.join('|')})`, 'iu'))
  return parts.map((part, i) => (i % 2 === 0 ? part : <mark>{part}</mark>))
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
