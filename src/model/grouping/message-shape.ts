/** Features of a message, collected in one pass. Each is a precondition for some pattern to match. */
export interface MessageShape {
  hasDigit: boolean
  /** Numbers of at most two and of at least four digits, as every date has them. */
  mayHaveDate: boolean
  /** Whether a word may be an id: with letters and digits, with an upper-case letter after `_`, or long. */
  mayHaveId: boolean
  /** Any quotation mark except the apostrophe. */
  hasQuote: boolean
  hasApostrophe: boolean
  hasAt: boolean
  hasEquals: boolean
  hasSlash: boolean
  /** Maximum number of colons, dashes and dots without white space in between. */
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

const KINDS = new Uint16Array(128)
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
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind
}

/** The opening quotation marks `“` and `«`. */
const LEFT_QUOTE = 0x201c
const LEFT_GUILLEMET = 0xab

/**
 * Works at the boundaries between runs of characters of one kind, because there are far fewer boundaries than
 * characters.
 */
export function shapeOf(text: string): MessageShape {
  const { length } = text
  let found = 0
  let word = 0
  let wordStart = 0
  let mayHaveId = false
  let fewestDigits = length
  let mostDigits = 0
  let colons = 0
  let dashes = 0
  let dots = 0
  let mostColons = 0
  let mostDashes = 0
  let mostDots = 0
  let run = 0
  let runStart = 0
  // One position past the end, so that the last run and the last word end too.
  for (let i = 0; i <= length; i++) {
    const code = i < length ? text.charCodeAt(i) : 0
    const kind = code < 128 ? (KINDS[code] as number) : code === LEFT_QUOTE || code === LEFT_GUILLEMET ? QUOTE : 0
    if (kind === run && i < length) continue
    const size = i - runStart
    if (run === DIGIT) {
      if (size < fewestDigits) fewestDigits = size
      if (size > mostDigits) mostDigits = size
    } else if (run === DASH) {
      dashes += size
      if (dashes > mostDashes) mostDashes = dashes
    } else if (run === DOT) {
      dots += size
      if (dots > mostDots) mostDots = dots
    } else if (run === COLON) {
      colons += size
      if (colons > mostColons) mostColons = colons
    } else if (run === SPACE) {
      colons = dashes = dots = 0
    }
    found |= run
    if ((kind & WORD) !== 0) {
      if (word === 0) wordStart = i
      word |= kind
    } else if (word !== 0) {
      mayHaveId ||= mayBeId(word, i - wordStart)
      word = 0
    }
    run = kind
    runStart = i
  }
  return {
    hasDigit: mostDigits > 0,
    mayHaveDate: fewestDigits <= 2 && mostDigits >= 4,
    mayHaveId,
    hasQuote: (found & QUOTE) !== 0,
    hasApostrophe: (found & APOSTROPHE) !== 0,
    hasAt: (found & AT) !== 0,
    hasEquals: (found & EQUALS) !== 0,
    hasSlash: (found & SLASH) !== 0,
    colons: mostColons,
    dashes: mostDashes,
    dots: mostDots,
  }
}

function mayBeId(word: number, length: number): boolean {
  if ((word & DIGIT) !== 0) return (word & (LETTER | UNDERSCORE | DOLLAR)) !== 0
  return (word & UPPER_CASE) !== 0 && ((word & UNDERSCORE) !== 0 || length >= MIN_RANDOM_LETTERS)
}
