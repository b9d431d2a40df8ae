import type { Line } from '../transfer/import-records.js'

/** Longer than any line that an export writes; what is longer is not kept in memory to the end. */
const LONGEST = 64 * 1024 * 1024
const NEWLINE = 0x0a

/** The lines of a stream, counted from 1. One that is too long, or is no UTF-8, has no text. */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let number = 1
  let parts: Uint8Array[] = []
  let length = 0
  const add = (bytes: Uint8Array) => {
    length += bytes.length
    if (length > LONGEST) parts = []
    else parts.push(bytes)
  }
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end))
      yield { number: number++, text: textOf(parts, length) }
      parts = []
      length = 0
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
  }
  if (length > 0) yield { number, text: textOf(parts, length) }
}

/** Throws away the mark by which some programs say that it is UTF-8. */
const decoder = new TextDecoder('utf-8', { fatal: true })

function textOf(parts: readonly Uint8Array[], length: number): string | null {
  if (length > LONGEST) return null
  try {
    return decoder.decode(Buffer.concat(parts))
  } catch {
    // No UTF-8, which no line of an export is.
    return null
  }
}
