/** Features of a text that determine which searches can match. */
export const LONG_RUN = 1
export const SIGN = 2
export const ADDRESS = 4
export const DIGITS = 8
export const WORD = 16
export const NOT_ASCII = 32
export const OPTION = 64
/** Prefix of a word for a password, or of the command AUTH. Set together with `WORD`. */
export const PASSWORD = 128

/** A run of word characters, dots and dashes of this length may be a token. */
const TOKEN_LENGTH = 11
/** Digits of the shortest card number, and of a group of digits in one. */
const CARD_LENGTH = 13
const GROUP_LENGTH = 4
const GAP_LENGTH = 3

/** Prefixes of words for a password, in the form of the other prefixes. */
const PASSWORD_BEGINNINGS = [
  'pass', 'psw', 'pwd', 'auth', 'phra', 'mnem', 'kenn', 'cont', 'clav', 'mdp', 'senh', 'wach', 'lose', 'adga', 'sala', 'hasl', 'hesl', 'jels', 'paro',
  'sifr', 'lozi', 'zapo', 'gesl', 'khau', 'sand', 'pasw', 'gehe',
] // biome-ignore format: a word list reads best as lines of words

/**
 * Prefixes of every other word that names a secret, an authorization scheme or a link that grants access. Four letters,
 * or three if the word is shorter: the searches themselves are exact.
 */
const BEGINNINGS = [
  'secr', 'toke', 'jwt', 'bear', 'basi', 'cred', 'cook', 'sess', 'sid', 'psk', 'sign', 'key', 'code', 'link', 'pin', 'numb', 'answ', 'asse', 'saml',
  'otp', 'card', 'cvv', 'cvc', 'iban', 'ssn', 'soci', 'csrf', 'xsrf', 'dsn', 'conn', 'data', 'begi', 'rese', 'veri', 'conf', 'acti', 'invi', 'unlo',
  'reco', 'magi', 'unsu', 'onet', 'time', 'shar', 'tick', 'iden', 'fail', 'cryp', 'pepp', 'vapi',
] // biome-ignore format: a word list reads best as lines of words

const letterOf = (code: number) => {
  const lower = code | 32
  return lower >= 97 && lower <= 122 && code >= 65 ? lower - 96 : 0
}
const codeOf = (letters: string) =>
  [...letters].reduce((code, letter) => (code << 5) | letterOf(letter.charCodeAt(0)), 0)

/** Lookup by the code of three letters: the features of a complete prefix, or `NEEDS_FOURTH`. */
const THREE = new Uint8Array(1 << 15)
const NEEDS_FOURTH = 1
const FOUR = new Map<number, number>()
addPrefixes(BEGINNINGS, WORD)
addPrefixes(PASSWORD_BEGINNINGS, WORD | PASSWORD)
// `pw` with any letter before it, and with none.
for (let before = 0; before <= 26; before++) THREE[(before << 10) | codeOf('pw')] = WORD | PASSWORD

function addPrefixes(prefixes: readonly string[], features: number): void {
  for (const letters of prefixes) {
    const three = codeOf(letters.slice(0, 3))
    THREE[three] = Math.max(THREE[three] ?? 0, letters.length === 3 ? features : NEEDS_FOURTH)
    if (letters.length === 4) FOUR.set(codeOf(letters), features)
  }
}

/** Letters map to their position in the alphabet, other characters to these flags. */
const IS_RUN = 32
const IS_DIGIT = 64
const IS_SIGN = 128
const IS_ADDRESS = 256
const IS_BLANK = 512
const DASH = 45
const KINDS = new Uint16Array(128)
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code)
  KINDS[code] =
    letterOf(code) ||
    (/[\w.-]/.test(character) ? IS_RUN : 0) |
      (/\d/.test(character) ? IS_DIGIT : 0) |
      (/[=:@\t'"<%(]/.test(character) ? IS_SIGN : 0) |
      (/[/?%]/.test(character) ? IS_ADDRESS : 0) |
      (/\s/.test(character) ? IS_BLANK : 0)
}

const NOT_ASCII_KIND = 1024
const isQuote = (code: number) => code === 34 || code === 39

/** Returns the features of a text in one pass, which is cheaper than one search per feature. */
export function scanText(text: string): number {
  const { length } = text
  let features = 0
  let letters = 0
  let runStart = 0
  let digitStart = 0
  let lastDigit = -2
  let followsGroup = false
  let blankStart = 0
  let lastBlank = -1
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    const kind = code < 128 ? (KINDS[code] as number) : NOT_ASCII_KIND
    if (kind < IS_RUN && kind > 0) {
      letters = ((letters << 5) | kind) & 0x7fff
      const three = THREE[letters] as number
      if (three !== 0)
        features |= three === NEEDS_FOURTH ? (FOUR.get((letters << 5) | letterOf(text.charCodeAt(i + 1))) ?? 0) : three
      continue
    }
    letters = 0
    if ((kind & IS_RUN) === 0) {
      if (i - runStart >= TOKEN_LENGTH) features |= LONG_RUN
      runStart = i + 1
    }
    if (kind & IS_DIGIT) {
      if (lastDigit !== i - 1) {
        followsGroup = lastDigit === i - 2 && i - 1 - digitStart >= GROUP_LENGTH
        digitStart = i
      }
      lastDigit = i
      if (i - digitStart === (followsGroup ? GROUP_LENGTH : CARD_LENGTH) - 1) features |= DIGITS
    } else if (kind & IS_BLANK) {
      if (lastBlank !== i - 1) blankStart = i
      lastBlank = i
      if (i - blankStart === GAP_LENGTH - 1) features |= SIGN
    } else if (code === DASH && (lastBlank === i - 1 || isQuote(text.charCodeAt(i - 1)))) features |= OPTION
    if (kind & IS_SIGN) features |= SIGN
    if (kind & IS_ADDRESS) features |= ADDRESS
    if (kind === NOT_ASCII_KIND) features |= NOT_ASCII | SIGN
  }
  return length - runStart >= TOKEN_LENGTH ? features | LONG_RUN : features
}
