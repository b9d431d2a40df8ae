import { mayContainSecretPath, withoutSecretPaths } from './secret-paths.js'
import { CARD_DIGITS, LONG_RUN, SECRET_PREFIX, scanText, URL_CHARACTER } from './text-scan.js'

/**
 * Token formats with a provider prefix. Matched inside a run of word characters, dots and dashes, to the end of the
 * run: an upper limit would leave the tail of a longer token.
 */
const PREFIXED_TOKENS = [
  // Cloud providers
  'A(?:KIA|SIA|BIA|CCA)[\\dA-Z]{12,}', 'LTAI[\\dA-Za-z]{12,}', 'AKID[\\dA-Za-z]{13,}', 'AIza[\\w-]{30,}', 'ya29\\.[\\w.-]{16,}', 'GOCSPX-[\\w-]{16,}',
  'do[opr]_v1_[\\dA-Za-z]{16,}', 'hv[sbr]\\.[\\w.-]{16,}', 'HRKU-[\\w-]{16,}', 'tskey-[\\w-]{12,}', 'dapi[\\da-f]{28,}[\\w-]*', 'pscale_[a-z]+_[\\w.-]{16,}',
  'sb(?:p|_secret)_[\\w-]{16,}', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{16,}', 'nfp_[\\w-]{16,}', 'napi_[\\w-]{16,}', 'fm[12]_[\\w-]{16,}',
  '[\\dA-Za-z]{10,20}\\.atlasv1\\.[\\w-]{16,}', 'pul-[\\da-f]{32,}', 'rnd_[\\dA-Za-z]{24,}', 'vercel_blob_rw_\\w{16,}', 'v1\\.0-[\\da-f]{24}-[\\da-f]{100,}', 's\\.(?=[A-Za-z]{0,20}\\d)[\\dA-Za-z]{24}\\b',
  // Faultboard itself
  'fb_[\\w-]{40,}',
  // Source code, packages and builds
  'gh[pousr]_\\w{16,}', 'github_pat_\\w{16,}', 'gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\\w.-]{8,}', 'AT(?:ATT|CTT|BB)[\\w-]{20,}', 'npm_[\\dA-Za-z]{20,}',
  'pypi-(?=[\\w-]{0,60}[\\dA-Z])[\\w-]{20,}', 'rubygems_[\\w-]{16,}', 'oy2[\\da-z]{40,}', 'dckr_pat_[\\w-]{16,}', 'CCIPAT_[\\w-]{16,}', 'bkua_[\\w-]{16,}',
  'sgp_\\w{16,}', 'AKCp[\\dA-Za-z]{16,}', 'PMAK-[\\w-]{16,}', 'CLOJARS_[\\da-f]{30,}',
  // Payments and e-commerce
  '[sr]k_(?:live|test)_\\w{8,}', 'shp(?:at|ca|pa|ss|tka|ua)_[\\dA-Za-z]{16,}', 'sq0[a-z]{3}-[\\w-]{16,}', 'rzp_live_\\w{8,}', 'EAAA[\\w-]{40,}',
  'access-(?:sandbox|development|production)-[\\w-]{16,}', 'shippo_(?:live|test)_\\w{16,}', 'FLWSECK[\\w-]{16,}', 'duffel_(?:live|test)_[\\w-]{16,}', 'EZ[AT]K[\\dA-Za-z]{40,}',
  // Messaging and email
  'xox[a-z][.-][\\w.-]{8,}', 'xapp-[\\w-]{16,}', 'SG\\.[\\w-]{10,}\\.[\\w.-]{10,}', 'key-(?=[\\dA-Za-z]*\\d)[\\dA-Za-z]{24,}', '[\\da-f]{32}-us\\d{1,2}', 'SK[\\da-f]{32}',
  'xkeysib-[\\w-]{16,}', 'xsmtpsib-[\\w-]{16,}', 're_[\\dA-Za-z]{6,12}_[\\w-]{16,}', '[MNO][\\w-]{22,27}\\.[\\w-]{6}\\.[\\w-]{27,}', 'EAA[\\dA-Za-z]{60,}',
  // AI models
  'sk-(?=[\\w-]{0,60}[\\dA-Z])[\\w-]{16,}', 'hf_[\\dA-Za-z]{16,}', 'r8_[\\dA-Za-z]{30,}', 'gsk_[\\dA-Za-z]{30,}', 'xai-[\\dA-Za-z]{40,}', 'pplx-[\\dA-Za-z]{30,}',
  'lsv2_[a-z]{2}_\\w{16,}',
  // Monitoring and project management
  'gl(?:sa|c)_[\\w-]{16,}', 'NRAK-[\\w-]{16,}', 'dt0[a-z]\\d\\d\\.[\\w.-]{20,}', 'sntry[su]_[\\w-]{16,}', 'phx_\\w{16,}', 'lin_(?:api|oauth)_\\w{16,}', 'ntn_\\w{20,}',
  'secret_[\\dA-Za-z]{40,}', 'fig[du]_[\\w-]{16,}', 'pat[\\dA-Za-z]{14}\\.[\\da-f]{32,}', 'pat-[a-z]{2}\\d-[\\da-f-]{30,}', 'CFPAT-[\\w-]{16,}', 'tfp_[\\w-]{16,}',
  'ops_eyJ[\\w-]{16,}', 'AGE-SECRET-KEY-[\\dA-Z]{16,}', 'sl\\.[\\w-]{60,}', 'aio_[\\dA-Za-z]{28}\\b', 'fio-u-[\\w-]{40,}',
] // biome-ignore format: a list of patterns reads best as lines of patterns

/** The digits of a percent-encoded character are not part of a token: `%3Dghp_…` begins a run as `3Dghp_…`. */
const PREFIXED_TOKEN = new RegExp(`(?:(?<![A-Za-z\\d])|(?<=^[\\dA-Fa-f]{2}))(?:${PREFIXED_TOKENS.join('|')})`, 'g')
/** Runs long enough for a token. Only their starts are tried, so that a long run is read once. */
const LONG_RUNS = /\b[\w.-]{12,}/g
/** Cheap check before the search: every prefix contains a separator, a digit or two capitals. */
const PREFIX_HINT = /[_\d-]|[A-Z]{2}/

/** Required by at least one of the shapes below. One combined search is far cheaper than one per shape. */
const SHAPE_HINT =
  /eyJ|bearer|basic|\d{13}|\d{4}[ +-]\d{4}|whsec_|webhook|hook[.s]|ifttt|sig(?:nature)?[=%]|---- ?BEGIN|\dQ~|bot\d|\d:[\w-]{25}|1\/\/0|\w==|\$(?:2[aby]|5|6|y|argon2\w{1,2})\$|scram-sha|private-lines|kty/i

const PRIVATE_KEY = /-{4,5} ?BEGIN ([\dA-Z ]{0,40}PRIVATE KEY(?: BLOCK)?) ?-{4,5}[\s\S]*?(?:-{4,5} ?END \1 ?-{4,5}|$)/g
const SCHEME_TOKEN =
  /\b(bearer|basic)(\s{1,20}|%20|,\s{0,2}(?=[\w.~+/=-]{0,200}\d))(?!(?:auth|authentication|authorization|credentials?|realm|scheme|header|tokens?)\b|[\w-]{1,40}=[^=\s])[\w.~+/=-]{6,}/gi
const JSON_WEB_TOKEN = /(?:(?<![A-Za-z\d])|(?<=%[\dA-Fa-f]{2}))eyJ[\w.-]{8,}/g
/** Tokens with characters that end a run. */
const OTHER_TOKEN =
  /whsec_[\w+/=-]{8,}|(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{30,}|\b(?:bot)?\d{3,12}:(?=[\w-]{0,30}[A-Z])[\w-]{30,}|\bbot\d{1,12}:[\w-]{12,}|\b1\/\/0[\w-]{20,}|(?<![\w+/-])[\dA-Za-z+/]{86}==(?![\w+/=])|\$2[aby]\$\d\d\$[./\dA-Za-z]{20,}|\$(?:5|6|y|argon2\w{1,2})\$[\w+/.=,$-]{20,}|SCRAM-SHA-\d{1,3}\$\d{1,9}:[\w+/=$:]{20,}|(?<=Private-Lines: \d{1,3}(?:\\r|\\n|\s){1,4})[\w+/=\\\s]{40,}?(?=\s?(?:\\r|\\n)?Private-MAC|$)/g
const WEBHOOK =
  /(hooks\.slack\.com(?:\/|%2f)(?:services|workflows|triggers)|\/api\/webhooks|webhook\.office\.com(?:\/|%2f)webhookb2|outlook\.office(?:365)?\.com(?:\/|%2f)webhook|hooks\.zapier\.com(?:\/|%2f)hooks|hook\.[a-z\d.]{1,20}\.?make\.com|maker\.ifttt\.com(?:\/|%2f)trigger|\/hooks(?=\/[\w-]{15}))(\/|%2f)[\w/@-](?:[\w/@.-]|%2f|%40)*/gi
/** Excludes groups of digits in a UUID. */
const CARD_NUMBER =
  /(?<![\d.])(?:[2-6]\d{12,18}|(?<![\da-f]{4}|[\da-f]{8}-)[2-6]\d{3}([ +-])\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ +-])\d{6}\2\d{5})(?!\d)/g
/** The private members of a JSON Web Key. */
const PRIVATE_JWK_MEMBER = /((?<![\w$])(?:d|p|q|dp|dq|qi|k)\\{0,7}["']?\s{0,3}:\s{0,3}\\{0,7}["'])[\w+/=-]{16,}/g
/** Signature of a pre-signed URL. Elsewhere these words have other meanings. */
const URL_SIGNATURE = /((?:[?&]|%(?:25){0,3}(?:3f|26))(?:x-goog-)?sig(?:nature)?(?:=|%(?:25){0,3}3d))[^\s&#"'<>]+/gi

/** Returns true if a text with these features may contain a secret recognizable by its shape alone. */
export function mayContainToken(text: string, features = scanText(text)): boolean {
  if ((features & TOKEN_FEATURES) === 0) return false
  if (SHAPE_HINT.test(text) || mayContainSecretPath(text, features)) return true
  return (features & LONG_RUN) !== 0 && withoutPrefixedTokens(text, '') !== text
}

const TOKEN_FEATURES = LONG_RUN | CARD_DIGITS | SECRET_PREFIX | URL_CHARACTER

/** Replaces tokens, private keys, card numbers and pre-signed URLs with `filtered`. */
export function withoutTokens(text: string, filtered: string, features: number): string {
  if ((features & TOKEN_FEATURES) === 0) return text
  // First, because a group of digits in a token can look like a card number.
  const withoutPrefixed = features & LONG_RUN ? withoutPrefixedTokens(text, filtered) : text
  const withoutTokenShapes = SHAPE_HINT.test(withoutPrefixed)
    ? withoutShapes(withoutPrefixed, filtered)
    : withoutPrefixed
  return mayContainSecretPath(withoutTokenShapes, features)
    ? withoutSecretPaths(withoutTokenShapes, filtered)
    : withoutTokenShapes
}

function withoutPrefixedTokens(text: string, filtered: string): string {
  return text.replace(LONG_RUNS, (run) => (PREFIX_HINT.test(run) ? run.replace(PREFIXED_TOKEN, filtered) : run))
}

function withoutShapes(text: string, filtered: string): string {
  const withoutKeys = text.includes('kty') ? text.replace(PRIVATE_JWK_MEMBER, `$1${filtered}`) : text
  return withoutKeys
    .replace(PRIVATE_KEY, filtered)
    .replace(SCHEME_TOKEN, `$1$2${filtered}`)
    .replace(JSON_WEB_TOKEN, filtered)
    .replace(OTHER_TOKEN, filtered)
    .replace(WEBHOOK, `$1$2${filtered}`)
    .replace(CARD_NUMBER, (digits) => (passesLuhn(digits.replace(/\D/g, '')) ? filtered : digits))
    .replace(URL_SIGNATURE, `$1${filtered}`)
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const doubled = digit * 2
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
