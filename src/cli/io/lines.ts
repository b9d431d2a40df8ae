import type { Line } from '../../transfer/import-records.js'

/** Longer than any line of an export. Longer lines are not buffered completely. */
const LONGEST = 64 * 1024 * 1024
const NEWLINE = 0x0a

/** Lines of a stream, numbered from 1. A line that is too long or not UTF-8 has no text. */
export async function* linesOf(stream: AsyncIterable<Uint8Array>, longest = LONGEST): AsyncGenerator<Line> {
  let number = 1
  let parts: Uint8Array[] = []
  let length = 0
  const add = (bytes: Uint8Array) => {
    length += bytes.length
    if (length > longest) parts = []
    else parts.push(bytes)
  }
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end))
      yield { number: number++, ...textOf(parts, length, longest) }
      parts = []
      length = 0
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
  }
  if (length > 0) yield { number, ...textOf(parts, length, longest) }
}

/** Removes a byte order mark. */
const decoder = new TextDecoder('utf-8', { fatal: true })

function textOf(parts: readonly Uint8Array[], length: number, longest: number): Omit<Line, 'number'> {
  if (length > longest) return { text: null, why: `longer than ${longest} bytes` }
  try {
    return { text: decoder.decode(Buffer.concat(parts)) }
  } catch {
    return { text: null, why: 'not valid UTF-8' }
  }
}
