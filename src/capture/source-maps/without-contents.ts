const KEY = '"sourcesContent"'
const QUOTE = 34
const BACKSLASH = 92
const CLOSING_BRACKET = 93

/** Removes the source texts from a map: they are most of it, not needed, and slow to parse. */
export function withoutContents(map: Buffer): Buffer {
  const kept: Buffer[] = []
  let from = 0
  for (let key = map.indexOf(KEY); key >= 0; key = map.indexOf(KEY, key + KEY.length)) {
    const open =
      map[key - 1] === BACKSLASH ? null : /^\s*:\s*\[/.exec(map.toString('latin1', key + KEY.length, key + 50))
    if (!open) continue
    const start = key + KEY.length + open[0].length
    key = endOfArray(map, start)
    kept.push(map.subarray(from, start))
    from = key
  }
  return kept.length === 0 ? map : Buffer.concat([...kept, map.subarray(from)])
}

/**
 * Position of the bracket that closes an array of strings. Any other content makes the result invalid JSON, and so not
 * a map.
 */
function endOfArray(map: Buffer, start: number): number {
  let at = start
  while (at < map.length && map[at] !== CLOSING_BRACKET) at = map[at] === QUOTE ? endOfString(map, at) : at + 1
  return at
}

/** Jumps from quote to quote: reading byte by byte is as slow as parsing. */
function endOfString(map: Buffer, start: number): number {
  let quote = map.indexOf(QUOTE, start + 1)
  while (quote >= 0 && isEscaped(map, quote)) quote = map.indexOf(QUOTE, quote + 1)
  return quote < 0 ? map.length : quote + 1
}

function isEscaped(map: Buffer, quote: number): boolean {
  let before = quote - 1
  while (map[before] === BACKSLASH) before--
  return (quote - before) % 2 === 0
}
