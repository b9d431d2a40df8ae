/** Features of a text that determine which searches can match. */
export const LONG_RUN = 1
export const SEPARATOR = 2
export const URL_CHARACTER = 4
export const CARD_DIGITS = 8
export const SECRET_PREFIX = 16
export const NON_ASCII = 32
export const COMMAND_OPTION = 64
/** Prefix of a word for a password, or of the command AUTH. Set together with `WORD`. */
export const PASSWORD_PREFIX = 128

/** A run of word characters, dots and dashes of this length may be a token. */
const MIN_TOKEN_LENGTH = 11
/** Digits of the shortest card number, and of one group of digits in a card number. */
const MIN_CARD_DIGITS = 13
const CARD_GROUP_DIGITS = 4
const COLUMN_GAP_LENGTH = 3

/** Prefixes of words for a password. Same length as `SECRET_PREFIXES`. */
const PASSWORD_PREFIXES = [
  'pass', 'psw', 'pwd', 'auth', 'phra', 'mnem', 'kenn', 'cont', 'clav', 'mdp', 'senh', 'wach', 'lose', 'adga', 'sala', 'hasl', 'hesl', 'jels', 'paro',
  'sifr', 'lozi', 'zapo', 'gesl', 'khau', 'sand', 'pasw', 'gehe',
] // biome-ignore format: a word list reads best as lines of words

/**
 * Prefixes of every other word that names a secret, an authorization scheme or a link that grants access. Four letters,
 * or three if the word is shorter: the searches themselves are exact.
 */
const SECRET_PREFIXES = [
  'secr', 'toke', 'jwt', 'bear', 'basi', 'cred', 'cook', 'sess', 'sid', 'psk', 'sign', 'key', 'code', 'link', 'pin', 'numb', 'answ', 'asse', 'saml',
  'otp', 'card', 'cvv', 'cvc', 'iban', 'ssn', 'soci', 'csrf', 'xsrf', 'dsn', 'conn', 'data', 'begi', 'rese', 'veri', 'conf', 'acti', 'invi', 'unlo',
  'reco', 'magi', 'unsu', 'onet', 'time', 'shar', 'tick', 'iden', 'fail', 'cryp', 'pepp', 'vapi',
] // biome-ignore format: a word list reads best as lines of words

const letterIndex = (code: number) => {
  const lower = code | 32
  return lower >= 97 && lower <= 122 && code >= 65 ? lower - 96 : 0
}
const lettersCode = (letters: string) =>
  [...letters].reduce((code, letter) => (code << 5) | letterIndex(letter.charCodeAt(0)), 0)

/** Lookup by the code of three letters: the features of a complete prefix, or `NEEDS_FOURTH`. */
const PREFIX_FEATURES = new Uint8Array(1 << 15)
const NEEDS_FOURTH = 1
const FOUR_LETTER_FEATURES = new Map<number, number>()
addPrefixes(SECRET_PREFIXES, SECRET_PREFIX)
addPrefixes(PASSWORD_PREFIXES, SECRET_PREFIX | PASSWORD_PREFIX)
// `pw` with any letter before it, and with none.
for (let before = 0; before <= 26; before++)
  PREFIX_FEATURES[(before << 10) | lettersCode('pw')] = SECRET_PREFIX | PASSWORD_PREFIX

function addPrefixes(prefixes: readonly string[], features: number): void {
  for (const prefix of prefixes) {
    const index = lettersCode(prefix.slice(0, 3))
    PREFIX_FEATURES[index] = Math.max(PREFIX_FEATURES[index] ?? 0, prefix.length === 3 ? features : NEEDS_FOURTH)
    if (prefix.length === 4) FOUR_LETTER_FEATURES.set(lettersCode(prefix), features)
  }
}

/** Letters map to their position in the alphabet, other characters to these flags. */
const IS_RUN = 32
const IS_DIGIT = 64
const IS_SEPARATOR = 128
const IS_URL_CHARACTER = 256
const IS_BLANK = 512
const DASH = 45
const CHARACTER_KINDS = new Uint16Array(128)
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code)
  CHARACTER_KINDS[code] =
    letterIndex(code) ||
    (/[\w.-]/.test(character) ? IS_RUN : 0) |
      (/\d/.test(character) ? IS_DIGIT : 0) |
      (/[=:@\t'"<%(]/.test(character) ? IS_SEPARATOR : 0) |
      (/[/?%]/.test(character) ? IS_URL_CHARACTER : 0) |
      (/\s/.test(character) ? IS_BLANK : 0)
}

const NON_ASCII_KIND = 1024
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
    const kind = code < 128 ? (CHARACTER_KINDS[code] as number) : NON_ASCII_KIND
    if (kind < IS_RUN && kind > 0) {
      letters = ((letters << 5) | kind) & 0x7fff
      const prefixFeatures = PREFIX_FEATURES[letters] as number
      if (prefixFeatures !== 0)
        features |=
          prefixFeatures === NEEDS_FOURTH
            ? (FOUR_LETTER_FEATURES.get((letters << 5) | letterIndex(text.charCodeAt(i + 1))) ?? 0)
            : prefixFeatures
      continue
    }
    letters = 0
    if ((kind & IS_RUN) === 0) {
      if (i - runStart >= MIN_TOKEN_LENGTH) features |= LONG_RUN
      runStart = i + 1
    }
    if (kind & IS_DIGIT) {
      if (lastDigit !== i - 1) {
        followsGroup = lastDigit === i - 2 && i - 1 - digitStart >= CARD_GROUP_DIGITS
        digitStart = i
      }
      lastDigit = i
      if (i - digitStart === (followsGroup ? CARD_GROUP_DIGITS : MIN_CARD_DIGITS) - 1) features |= CARD_DIGITS
    } else if (kind & IS_BLANK) {
      if (lastBlank !== i - 1) blankStart = i
      lastBlank = i
      if (i - blankStart === COLUMN_GAP_LENGTH - 1) features |= SEPARATOR
    } else if (code === DASH && (lastBlank === i - 1 || isQuote(text.charCodeAt(i - 1)))) features |= COMMAND_OPTION
    if (kind & IS_SEPARATOR) features |= SEPARATOR
    if (kind & IS_URL_CHARACTER) features |= URL_CHARACTER
    if (kind === NON_ASCII_KIND) features |= NON_ASCII | SEPARATOR
  }
  return length - runStart >= MIN_TOKEN_LENGTH ? features | LONG_RUN : features
}
