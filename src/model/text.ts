/** Makes a string safe for every database: no NUL, no lone surrogates, and at most `limit` characters. */
export function cleanText(text: string, limit: number): string {
  const truncated = text.length > limit ? `${text.slice(0, Math.max(0, limit - 1))}…` : text
  const wellFormed = truncated.isWellFormed() ? truncated : truncated.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed
}

/** Key that replaces keys over the limit. Its value is the number of these keys. */
export const OMITTED_KEYS = '…'

/** Returns `; did you mean x?`, or an empty string if no known word is close. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const suggestion = nearestWord(word, known)
  return suggestion ? `; did you mean ${suggestion}?` : ''
}

/** Returns the known word closest to a mistyped word, or undefined if no known word is close enough. */
export function nearestWord(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  // A short word is one edit away from too many other words.
  let bestDistance = Math.min(Math.max(2, Math.floor(word.length / 3)), word.length - 2) + 1
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current[j] = Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1)
    }
    previous = current
  }
  return previous[b.length] ?? limit
}
