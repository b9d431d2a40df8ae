import type { Line } from '../../transfer/import-records.js'

/** Longer than any line of an export. Longer lines are not buffered completely. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
const NEWLINE = 0x0a

/** Lines of a stream, numbered from 1. A line that is too long or not UTF-8 has no text. */
export async function* readLines(stream: AsyncIterable<Uint8Array>, maxBytes = MAX_LINE_BYTES): AsyncGenerator<Line> {
  let number = 1
  let parts: Uint8Array[] = []
  let length = 0
  const add = (bytes: Uint8Array) => {
    length += bytes.length
    if (length > maxBytes) parts = []
    else parts.push(bytes)
  }
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end))
      yield { number: number++, ...decodeLine(parts, length, maxBytes) }
      parts = []
      length = 0
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
  }
  if (length > 0) yield { number, ...decodeLine(parts, length, maxBytes) }
}

/** Removes a byte order mark. */
const decoder = new TextDecoder('utf-8', { fatal: true })

function decodeLine(parts: readonly Uint8Array[], length: number, maxBytes: number): Omit<Line, 'number'> {
  if (length > maxBytes) return { text: null, reason: `longer than ${maxBytes} bytes` }
  try {
    return { text: decoder.decode(Buffer.concat(parts)) }
  } catch {
    return { text: null, reason: 'not valid UTF-8' }
  }
}
