/** Features of a message, collected in one pass. Each is a precondition for some pattern to match. */
export interface MessageShape {
  hasDigit: boolean
  /** True if there are numbers of at most two and of at least four digits, which every date contains. */
  mayHaveDate: boolean
  /** True if a word may be an id: with letters and digits, with an upper-case letter after `_`, or long. */
  mayHaveId: boolean
  /** Any quotation mark except the apostrophe. */
  hasQuote: boolean
  hasApostrophe: boolean
  hasAt: boolean
  hasEquals: boolean
  hasSlash: boolean
  /** Maximum number of colons, dashes and dots without whitespace in between. */
  colons: number
  dashes: number
  dots: number
}

/** Shorter words of letters are not checked. About one nanoid in forty has no digit, and a nanoid has 21 characters. */
export const MIN_RANDOM_LETTERS = 16

const LOWER_CASE = 1 << 0
const UPPER_CASE = 1 << 1
const DIGIT = 1 << 2
const UNDERSCORE = 1 << 3
const DASH = 1 << 4
const DOLLAR = 1 << 5
const QUOTE = 1 << 6
const APOSTROPHE = 1 << 7
const AT = 1 << 8
const EQUALS = 1 << 9
const SLASH = 1 << 10
const COLON = 1 << 11
const DOT = 1 << 12
const SPACE = 1 << 13

const LETTER = LOWER_CASE | UPPER_CASE
const WORD = LETTER | DIGIT | UNDERSCORE | DASH | DOLLAR

const CHARACTER_KINDS = new Uint16Array(128)
for (const [characters, kind] of [
  ['abcdefghijklmnopqrstuvwxyz', LOWER_CASE],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', UPPER_CASE],
  ['0123456789', DIGIT],
  ['_', UNDERSCORE],
  ['-', DASH],
  ['$', DOLLAR],
  ['"`', QUOTE],
  ["'", APOSTROPHE],
  ['@', AT],
  ['=', EQUALS],
  ['/\\', SLASH],
  [':', COLON],
  ['.', DOT],
  [' \t\n\r', SPACE],
] as const) {
  for (const character of characters) CHARACTER_KINDS[character.charCodeAt(0)] = kind
}

/** The opening quotation marks `“` and `«`. */
const LEFT_QUOTE = 0x201c
const LEFT_GUILLEMET = 0xab

/**
 * Works at the boundaries between runs of characters of one kind, because there are far fewer boundaries than
 * characters.
 */
export function messageShape(text: string): MessageShape {
  const { length } = text
  let seenKinds = 0
  let wordKinds = 0
  let wordStart = 0
  let mayHaveId = false
  let minDigits = length
  let maxDigits = 0
  let colons = 0
  let dashes = 0
  let dots = 0
  let maxColons = 0
  let maxDashes = 0
  let maxDots = 0
  let runKind = 0
  let runStart = 0
  // Continues one position past the end to close the last run and the last word.
  for (let i = 0; i <= length; i++) {
    const code = i < length ? text.charCodeAt(i) : 0
    const kind =
      code < 128 ? (CHARACTER_KINDS[code] as number) : code === LEFT_QUOTE || code === LEFT_GUILLEMET ? QUOTE : 0
    if (kind === runKind && i < length) continue
    const runLength = i - runStart
    if (runKind === DIGIT) {
      if (runLength < minDigits) minDigits = runLength
      if (runLength > maxDigits) maxDigits = runLength
    } else if (runKind === DASH) {
      dashes += runLength
      if (dashes > maxDashes) maxDashes = dashes
    } else if (runKind === DOT) {
      dots += runLength
      if (dots > maxDots) maxDots = dots
    } else if (runKind === COLON) {
      colons += runLength
      if (colons > maxColons) maxColons = colons
    } else if (runKind === SPACE) {
      colons = dashes = dots = 0
    }
    seenKinds |= runKind
    if ((kind & WORD) !== 0) {
      if (wordKinds === 0) wordStart = i
      wordKinds |= kind
    } else if (wordKinds !== 0) {
      mayHaveId ||= mayBeId(wordKinds, i - wordStart)
      wordKinds = 0
    }
    runKind = kind
    runStart = i
  }
  return {
    hasDigit: maxDigits > 0,
    mayHaveDate: minDigits <= 2 && maxDigits >= 4,
    mayHaveId,
    hasQuote: (seenKinds & QUOTE) !== 0,
    hasApostrophe: (seenKinds & APOSTROPHE) !== 0,
    hasAt: (seenKinds & AT) !== 0,
    hasEquals: (seenKinds & EQUALS) !== 0,
    hasSlash: (seenKinds & SLASH) !== 0,
    colons: maxColons,
    dashes: maxDashes,
    dots: maxDots,
  }
}

function mayBeId(kinds: number, length: number): boolean {
  if ((kinds & DIGIT) !== 0) return (kinds & (LETTER | UNDERSCORE | DOLLAR)) !== 0
  return (kinds & UPPER_CASE) !== 0 && ((kinds & UNDERSCORE) !== 0 || length >= MIN_RANDOM_LETTERS)
}
