/** Indexes of a segment's numbers. Each is a delta to the previous value. */
export const GENERATED_COLUMN = 0
export const SOURCE = 1
export const LINE = 2
export const COLUMN = 3
export const NAME = 4
const NUMBERS = 5

const COMMA = 44
const SEMICOLON = 59
const DIGITS = digitsOfBase64()

/** Reads mappings one segment at a time into its own fields: an object per segment would dominate the cost. */
export class SegmentReader {
  readonly text: string
  offset = 0
  generated_line = 0
  /** Running sums. Malicious maps can exceed 32 bits. */
  readonly sums = new Float64Array(NUMBERS)
  /** Count of numbers in the segment: from four on it has a source, from five on also a name. */
  numbers = 0

  constructor(text: string, start: { line: number; column: number }) {
    this.text = text
    this.generated_line = start.line
    this.sums[GENERATED_COLUMN] = start.column
  }

  /** Moves to the next segment; false if there is none. */
  skip(): boolean {
    const { text, sums } = this
    for (let at = this.offset; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === SEMICOLON) {
        this.generated_line++
        sums[GENERATED_COLUMN] = 0
      } else if (code !== COMMA) {
        this.offset = at
        return true
      }
    }
    this.offset = text.length
    return false
  }

  /** Reads the segment at the current offset; false if it is truncated or contains an invalid 32-bit number. */
  read(): boolean {
    const { text, sums } = this
    let at = this.offset
    let numbers = 0
    let value = 0
    let shift = 0
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === COMMA || code === SEMICOLON) break
      const digit = DIGITS[code] ?? -1
      if (digit < 0 || (shift === 30 && digit > 3)) return false
      value |= (digit & 31) << shift
      shift += 5
      if (digit >= 32) continue
      if (numbers < NUMBERS) sums[numbers] = (sums[numbers] as number) + signed(value)
      numbers++
      value = 0
      shift = 0
    }
    this.offset = at
    this.numbers = numbers
    return shift === 0
  }
}

function signed(value: number): number {
  return (value & 1) === 0 ? value >>> 1 : -(value >>> 1)
}

function digitsOfBase64(): Int8Array {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const digits = new Int8Array(128).fill(-1)
  for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i
  return digits
}
