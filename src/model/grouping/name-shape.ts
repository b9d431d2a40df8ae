/**
 * Pairs of letters that occur in the words of identifiers and package documentation. About half of all pairs are
 * missing, and random letters hit a missing pair soon. About one word in twenty contains one.
 */
const FOLLOWING_LETTERS: Record<string, string> = {
  a: 'bcdfghiklmnprstuvwxyz',
  b: 'aeijlmoprstuy',
  c: 'acehiklorstuy',
  d: 'abdegilmnoprsuvy',
  e: 'abcdefghijklmnopqrstuvwxy',
  f: 'aefilorstuy',
  g: 'aeghilmnorstuy',
  h: 'abeimorstuy',
  i: 'abcdefgklmnopqrstuvxz',
  j: 'aeosu',
  k: 'aefinos',
  l: 'abcdefhiklmopstuvy',
  m: 'abdeilmnopsuy',
  n: 'abcdefghijklmnoprstuvy',
  o: 'abcdefgijklmnoprstuvwxy',
  p: 'adehilmoprstuy',
  q: 'lu',
  r: 'abcdefgiklmnoprstuvwy',
  s: 'acdefhiklmnopqstuwy',
  t: 'acdefghilmnoprstuwy',
  u: 'abcdefgilmnoprstx',
  v: 'aeio',
  w: 'aehilnors',
  x: 'aceilpty',
  y: 'aeilmnopst',
  z: 'aeio',
}

/** Indexed by the low five bits of both letters, which are equal in upper and lower case. */
const IS_COMMON_PAIR = new Uint8Array(1024)
for (const [first, letters] of Object.entries(FOLLOWING_LETTERS)) {
  for (const second of letters) IS_COMMON_PAIR[pairIndex(first.charCodeAt(0), second.charCodeAt(0))] = 1
}

/** One bit for each of a, e, i, o, u and y. */
const VOWELS = (1 << 1) | (1 << 5) | (1 << 9) | (1 << 15) | (1 << 21) | (1 << 25)

function pairIndex(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31)
}

/** A long name may contain one rare pair per this many letters: `algorithmVersion`. */
const LETTERS_PER_RARE_PAIR = 12
/** Numbers inside a name are short: `Int32Array`. */
const MAX_INNER_DIGITS = 3
/** Letters on either side of a number are whole words: `line1col2`. */
const MIN_WORD_LETTERS = 3
/** One or two letters begin a name if a longer word follows: `p95latency`. */
const MIN_LETTERS_AFTER_SHORT_WORD = 6

/** Words of two letters in camel case: `stringToBase64`. */
const SHORT_WORDS = new Set(['At', 'By', 'Db', 'Id', 'If', 'In', 'Is', 'Js', 'My', 'No', 'Of', 'On', 'Or', 'To', 'Up'])

const DIGIT = 1
const UPPER_CASE = 2
const LOWER_CASE = 3

/**
 * Returns true if a word with digits inside is built like an identifier: whole words on both sides of short numbers.
 * `Order2Client` is, `ord8fK2lmP` is not.
 */
export function looksLikeName(word: string): boolean {
  return looksLikeWord(word) && hasWordsAroundDigits(word)
}

/**
 * Returns true if ASCII letters and digits are in camel case or upper case, and the letters commonly follow each other.
 */
export function looksLikeWord(word: string, maxDigits = MAX_INNER_DIGITS): boolean {
  return hasNameCase(word, maxDigits) && hasCommonPairs(word)
}

/** Single letters are part of a name at its start (`iPhone`), before lower case (`Array`), and in `S3` and `V2`. */
export function hasNameCase(word: string, maxDigits = MAX_INNER_DIGITS): boolean {
  const { length } = word
  for (let start = 0, end = 0; start < length; start = end) {
    const kind = characterKind(word.charCodeAt(start))
    while (end < length && characterKind(word.charCodeAt(end)) === kind) end++
    const runLength = end - start
    if (kind === DIGIT) {
      if (runLength > maxDigits) return false
    } else if (runLength === 1 && start > 0) {
      const isNamePart =
        kind === LOWER_CASE ? SHORT_WORDS.has(word.slice(start - 1, end)) : canBeSingleLetter(word, start)
      if (!isNamePart) return false
    }
  }
  return true
}

function canBeSingleLetter(word: string, index: number): boolean {
  if (index + 1 === word.length) return word[index] === 'D' && characterKind(word.charCodeAt(index - 1)) === DIGIT
  return characterKind(word.charCodeAt(index + 1)) === LOWER_CASE || 'PSVX'.includes(word[index] as string)
}

function hasCommonPairs(word: string): boolean {
  const { length } = word
  let letters = 0
  let rarePairs = 0
  let last = 0
  let lastKind = 0
  for (let i = 0; i < length; i++) {
    const code = word.charCodeAt(i)
    const kind = characterKind(code)
    if (kind !== DIGIT) {
      letters++
      // A capital after a lower-case letter begins the next word.
      if (lastKind > DIGIT && kind >= lastKind && IS_COMMON_PAIR[pairIndex(last, code)] === 0) rarePairs++
    }
    last = code
    lastKind = kind
  }
  return rarePairs * LETTERS_PER_RARE_PAIR <= letters
}

function hasWordsAroundDigits(word: string): boolean {
  const { length } = word
  for (let start = 0, end = 0; start < length; start = end) {
    let hasVowel = false
    for (; end < length && characterKind(word.charCodeAt(end)) !== DIGIT; end++) {
      hasVowel ||= ((VOWELS >> (word.charCodeAt(end) & 31)) & 1) === 1
    }
    const letters = end - start
    while (end < length && characterKind(word.charCodeAt(end)) === DIGIT) end++
    if (letters >= MIN_WORD_LETTERS) {
      if (!hasVowel) return false
    } else if (start > 0) {
      // `Vector3D`
      if (end < length || word[start] !== 'D') return false
    } else if (letters === 0 || !hasLetters(word, end, MIN_LETTERS_AFTER_SHORT_WORD)) return false
  }
  return true
}

function hasLetters(word: string, start: number, count: number): boolean {
  for (let i = start; i < start + count; i++)
    if (i >= word.length || characterKind(word.charCodeAt(i)) === DIGIT) return false
  return true
}

function characterKind(code: number): number {
  return code <= 0x39 ? DIGIT : code <= 0x5a ? UPPER_CASE : LOWER_CASE
}
