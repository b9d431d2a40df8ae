import { columnAfter, type EditedLines } from './edits.js'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CONTINUES = 32

/**
 * The mappings of code to which something was added. Only the generated column of a segment changes, and only on lines
 * that were touched; every other number is a difference to the segment before, and stays what it was.
 */
export function shiftedMappings(mappings: string, edits: EditedLines): string {
  const lines = mappings.split(';')
  for (const [line, changes] of edits) {
    const segments = lines[line - 1]
    if (!segments) continue
    let before = 0
    let after = 0
    lines[line - 1] = segments
      .split(',')
      .map((segment) => {
        const { value, length } = readNumber(segment)
        before += value
        const column = columnAfter(changes, before)
        const moved = writeNumber(column - after) + segment.slice(length)
        after = column
        return moved
      })
      .join(',')
  }
  return lines.join(';')
}

function readNumber(text: string): { value: number; length: number } {
  let value = 0
  let shift = 0
  for (let i = 0; i < text.length; i++) {
    const digit = ALPHABET.indexOf(text[i] as string)
    if (digit < 0 || shift > 30) break
    value |= (digit & (CONTINUES - 1)) << shift
    shift += 5
    if (digit < CONTINUES) return { value: value & 1 ? -(value >>> 1) : value >>> 1, length: i + 1 }
  }
  throw new TypeError('no mappings')
}

function writeNumber(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1
  let text = ''
  do {
    const digit = rest & (CONTINUES - 1)
    rest >>>= 5
    text += ALPHABET[rest > 0 ? digit | CONTINUES : digit]
  } while (rest > 0)
  return text
}
