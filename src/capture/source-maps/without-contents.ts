const CONTENTS_KEY = '"sourcesContent"'
const QUOTE = 34
const BACKSLASH = 92
const CLOSING_BRACKET = 93

/** Removes the contents of the sources, which make up most of a map and are slow to parse. */
export function withoutContents(map: Buffer): Buffer {
  const parts: Buffer[] = []
  let copiedTo = 0
  for (let key = map.indexOf(CONTENTS_KEY); key >= 0; key = map.indexOf(CONTENTS_KEY, key + CONTENTS_KEY.length)) {
    const opening =
      map[key - 1] === BACKSLASH ? null : /^\s*:\s*\[/.exec(map.toString('latin1', key + CONTENTS_KEY.length, key + 50))
    if (!opening) continue
    const start = key + CONTENTS_KEY.length + opening[0].length
    key = endOfArray(map, start)
    parts.push(map.subarray(copiedTo, start))
    copiedTo = key
  }
  return parts.length === 0 ? map : Buffer.concat([...parts, map.subarray(copiedTo)])
}

/**
 * Finds the bracket that closes an array of strings. With any other content, the result is invalid JSON and is rejected
 * as a map.
 */
function endOfArray(map: Buffer, start: number): number {
  let index = start
  while (index < map.length && map[index] !== CLOSING_BRACKET)
    index = map[index] === QUOTE ? endOfString(map, index) : index + 1
  return index
}

/** Jumps from quote to quote, because reading byte by byte is as slow as parsing. */
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
