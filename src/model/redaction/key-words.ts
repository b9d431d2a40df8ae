export type KeyWords = readonly string[]

/** Words for a password in the languages in which form fields and columns are named most often. */
const PASSWORD_TERMS = [
  'password', 'passwords', 'passwd', 'passwrd', 'pasword', 'passw', 'pwd', 'pwds', 'pswd', 'psw', 'pw', 'pass', 'pass word',
  'pass code', 'passcode', 'passcodes', 'pass phrase', 'passphrase', 'passphrases', 'pass key', 'passkey',
  'passwort', 'passwörter', 'kennwort', 'kennwörter', 'contraseña', 'contraseñas', 'contrasena', 'contrasenya', 'clave',
  'claves', 'geheimnis', 'mot de passe', 'mots de passe', 'de passe', 'motdepasse', 'mdp', 'senha', 'senhas', 'palavra passe', 'palavrapasse',
  'wachtwoord', 'lösenord', 'losenord', 'passord', 'adgangskode', 'salasana', 'hasło', 'haslo', 'heslo', 'jelszó', 'jelszo',
  'parola', 'parolă', 'şifre', 'sifre', 'lozinka', 'zaporka', 'geslo', 'slaptažodis', 'salasõna', 'parool', 'lykilorð',
  'пароль', 'пароля', 'пароли', 'паролем', 'парола', 'лозинка', 'κωδικός', 'συνθηματικό', 'סיסמה', 'סיסמא', 'كلمة المرور', 'كلمة السر',
  'رمز عبور', 'पासवर्ड', 'รหัสผ่าน', 'mật khẩu', 'mat khau', 'kata sandi', '密码', '密碼', '口令', 'パスワード', '暗証番号', '비밀번호', '암호',
] // biome-ignore format: a word list reads best as lines of words

/** Two words that name a secret together. Joined (`masterkey`), they also match at the end of a longer word. */
const WORD_PAIRS = [
  ...wordPairs('key', 'api access account private encryption encrypt decryption decrypt signing sign secret master hmac shared symmetric'),
  ...wordPairs('key', 'crypto cipher aes rsa ssh pgp gpg stripe session auth token service storage deploy license recovery root jwt app role subscription'),
  ...wordPairs('key', 'vapid apns kdf tls ssl'),
  ...wordPairs('code', 'auth authorization verification security onetime recovery backup reset login access activation confirmation'),
  ...wordPairs('code', 'pairing otp mfa 2fa totp sms invite invitation pin unlock'),
  ...wordPairs('phrase', 'seed recovery backup'), ...wordPairs('link', 'magic reset invite invitation'),
  ...wordPairs('pin', 'user card atm sim login'), ...wordPairs('pw', 'user db root admin my login'),
  ...wordPairs('auth', 'basic http proxy digest smtp redis db'), ...wordPairs('number', 'credit card account routing'),
] // biome-ignore format: a word list reads best as lines of words

/** One word, or up to three consecutive words: `apiKey`, `api_key` and `x-api-key` all contain `api key`. */
export const SENSITIVE_PHRASES: ReadonlySet<string> = new Set([
  ...PASSWORD_TERMS, ...WORD_PAIRS, ...WORD_PAIRS.map((pair) => `${pair}s`),
  'secret', 'secrets', 'token', 'tokens', 'jwt', 'bearer', 'authorization', 'auth', 'authentication', 'oauth', 'credential',
  'credentials', 'creds', 'cookie', 'cookies', 'session', 'sessions', 'sid', 'psk', 'mnemonic', 'amz signature', 'one time code',
  'one time codes', 'security answer', 'security answers', 'client assertion', 'assertion', 'saml response', 'samlresponse',
  'code verifier', 'codeverifier', 'otp', 'totp', 'pin', 'pepper', 'card', 'cards', 'credit card', 'cvv', 'cvc', 'iban', 'ssn', 'social security',
  'csrf', 'xsrf', 'dsn', 'connection string', 'database url', 'vapid private',
]) // biome-ignore format: a word list reads best as lines of words

/** Contained in every sensitive key of plain letters, and in the messages of databases that quote a row. */
export const SECRET_WORD =
  /pass|pw|psw|pasw|secret|token|jwt|bearer|auth|cred|cookie|sess|sid(?!e)|psk|mnemonic|signature|key|code|phrase|link|pin|number|answer|assertion|saml|otp|card|cvv|cvc|iban|ssn|social|[cx]srf|dsn|connection|database|identified|crypt\(|pepper|geheimnis|vapid|kennwort|contrasen|clave|mdp|senha|wachtwoord|losenord|adgangskode|salasana|haslo|heslo|jelszo|parola|sifre|lozinka|zaporka|geslo|parool|khau|sandi|failing row/i

/** Parts of a longer word that name a secret wherever they occur in it. */
const SECRET_WORD_PART =
  /passw|passphrase|apikey|(?:access|auth|refresh|session|csrf|xsrf|id)token|sess(?:ion)?id|clientsecret|creditcard|cardnum|passwort|kennwort|wachtwoord|contrase[nñ]a|парол|密[码碼]|口令|パスワード|비밀번호/
/** Ends of a longer word that name a secret: `usertoken`, `dbpass`, `awscreds`. */
const SECRET_WORD_END = /(?:tokens?|secrets?|pass|pwds?|passcodes?|pswd|cookies?|credentials?|creds|cvv|csrf)$/
const SECRET_PAIR_END = new RegExp(`(?:${WORD_PAIRS.map((pair) => pair.replace(' ', '')).join('|')})s?$`)
/** Words with such an end that mean something else: `compass`, `bypass`, `lowpass`, `betoken`. */
const ORDINARY_WORD =
  /(?:com|by|tres|over|under|sur|multi|single|one|two|low|high|band|all|pre|post|render|sub|first|second|last|next|shadow|depth|boarding|season|gate|hall|day|bus|sk[iy])pass$|^betokens?$|^im?pass$/

/** Returns true if a single word names a secret without separators between its parts: `apitoken`, `masterkey`. */
export function isCompoundSecret(word: string): boolean {
  if (SECRET_WORD_PART.test(word)) return true
  return (SECRET_WORD_END.test(word) || SECRET_PAIR_END.test(word)) && !ORDINARY_WORD.test(word)
}

/** First and last words of keys that describe a secret without containing it: `has_password`, `token_type`. */
const DESCRIPTIVE_FIRST_WORDS = new Set(
  'max min total num has is no use uses allow enable disable require requires'.split(' '),
)
const DESCRIPTIVE_LAST_WORDS = new Set([
  'count', 'counts', 'length', 'size', 'total', 'limit', 'ttl', 'type', 'types', 'expires', 'expiry', 'expiration', 'at', 'error', 'errors',
  'exception', 'warning', 'failed', 'failure', 'failures', 'mismatch', 'denied', 'rejected', 'required', 'missing', 'expired',
  'invalid', 'valid', 'revoked', 'enabled', 'disabled', 'changed', 'set', 'present', 'exists', 'status', 'strength', 'policy',
  'duration', 'timeout', 'age', 'version', 'provider', 'method', 'scheme', 'strategy', 'brand', 'field', 'fields', 'label', 'attempts',
  'retries', 'usage', 'used', 'remaining', 'budget', 'minute', 'second', 'endpoint', 'service', 'controller', 'middleware', 'manager',
  'module', 'plugin', 'guard', 'handler', 'validator', 'parser', 'reducer',
]) // biome-ignore format: a word list reads best as lines of words
/** Counts of language-model tokens: `prompt_tokens`, `cachedInputTokens`. */
const TOKEN_COUNT_WORDS = new Set(
  'prompt completion input output cached reasoning audio text image context generated estimated used'.split(' '),
)

/** Returns true if a key only describes a secret: `session_count`, `TokenError`, `prompt_tokens`. */
export function isDescriptiveKey(words: KeyWords): boolean {
  const last = words.at(-1) ?? ''
  if (DESCRIPTIVE_FIRST_WORDS.has(words[0] ?? '') || DESCRIPTIVE_LAST_WORDS.has(last)) return true
  if (last === 'pass') return ORDINARY_WORD.test(`${words.at(-2)}pass`)
  return last === 'tokens' && words.some((word) => TOKEN_COUNT_WORDS.has(word))
}

/** `newPassword2` becomes `new`, `password`. Equivalent spellings of one character become the same character. */
export function keyWords(key: string): KeyWords {
  // Lower-casing leaves a combining dot after the Turkish capital I.
  const composed = NON_ASCII.test(key) ? key.normalize('NFKC').replaceAll('\u0130', 'I') : key
  return composed
    .replace(WORD_END, '$1 $2')
    .replace(ABBREVIATION_END, '$1 $2')
    .toLowerCase()
    .split(WORD_SEPARATORS)
    .map((word) => word.replace(/(?<=\D)\d+$/, ''))
    .filter((word) => word !== '')
}

const NON_ASCII = /[^\0-\x7f]/
/** `newPassword`. */
const WORD_END = /([\p{Lowercase}\d])(\p{Uppercase})/gu
/** `APIKey`. */
const ABBREVIATION_END = /(\p{Uppercase})(\p{Uppercase}\p{Lowercase})/gu
const WORD_SEPARATORS = /(?:[^\p{ID_Continue}]|_)+/u

const PASSWORD_WORDS: ReadonlySet<string> = new Set([...PASSWORD_TERMS, 'mnemonic', 'seed phrase', 'recovery phrase'])

/** Parts of words. Every key that names a password contains one of them. */
export const PASSWORD_WORD_PARTS: readonly string[] = shortestParts(
  PASSWORD_TERMS.filter((phrase) => !phrase.startsWith('pass ')).map((phrase) => phrase.split(' ').at(-1) ?? ''),
)

/** Returns true if a key names a password or phrase, which may consist of several words. */
export function isPasswordKey(key: string): boolean {
  const words = keyWords(key)
  return words.some(
    (word, i) =>
      PASSWORD_WORDS.has(word) ||
      PASSWORD_WORDS.has(`${word} ${words[i + 1]}`) ||
      PASSWORD_WORDS.has(`${word} ${words[i + 1]} ${words[i + 2]}`) ||
      (SECRET_WORD_PART.test(word) && /passw|phrase|kennwort|woord|contrase|парол|密|口令|パス|비밀/.test(word)),
  )
}

function wordPairs(lastWord: string, firstWords: string): string[] {
  return firstWords.split(' ').map((first) => `${first} ${lastWord}`)
}

/** Drops words that contain another word of the list. */
function shortestParts(words: readonly string[]): string[] {
  const parts: string[] = []
  for (const word of words.toSorted((a, b) => a.length - b.length)) {
    // Compares with the kept parts only. V8 would optimize a longer loop and load its optimizing compiler (4 MB).
    if (!parts.some((part) => word.includes(part))) parts.push(word)
  }
  return parts
}
