const KEY = '"sourcesContent"'
const QUOTE = 34
const BACKSLASH = 92
const CLOSING_BRACKET = 93

/** A map without the texts of its sources: they are most of it, never needed, and parsing them is what takes long. */
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

/** Where the bracket is that closes an array of strings. What holds anything else gives no JSON any more, and no map. */
function endOfArray(map: Buffer, start: number): number {
  let at = start
  while (at < map.length && map[at] !== CLOSING_BRACKET) at = map[at] === QUOTE ? endOfString(map, at) : at + 1
  return at
}

/** Leaps from quote to quote: to go through the bytes one by one takes as long as parsing them. */
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
