import { SECRET_PREFIX, SEPARATOR, URL_CHARACTER } from './text-scan.js'

/** Path segments that precede a secret in links for password resets, invitations, confirmations and the like. */
const SECRET_PATH =
  /(\/[a-z_-]{0,30}(?:reset|verif|confirm|activat|invit|unlock|recover|magic|unsubscribe|otp|token|passw|one-?time|share|secret)[a-z_-]{0,30})((?:\/[^\s/?#&"'<>\\]+){1,3})/gi
/** Parameters whose value is a secret only in a URL or body, and only if the value is random. */
const CODE_PARAMETER =
  /((?:[?&]|%(?:25){0,3}(?:3f|26))(?:code|ticket)(?:=|%(?:25){0,3}3d)|["'](?:code|ticket)\\{0,15}["']\s{0,3}:\s{0,3}\\{0,15}["'])([^\s&#"'<>\\]+)/gi
const CODE_KEYS: ReadonlySet<string> = new Set(['code', 'ticket'])

const PATH_WORD =
  /reset|verif|confirm|activat|invit|unlock|recover|magic|unsubscribe|otp|token|passw|one-?time|share|secret|code|ticket/i

/** Returns true if a text may contain a URL that grants access. */
export function mayContainSecretPath(text: string, features: number): boolean {
  return (features & (URL_CHARACTER | SEPARATOR)) !== 0 && (features & SECRET_PREFIX) !== 0 && PATH_WORD.test(text)
}

/** Replaces the random part of URLs that grant access with `filtered`: `/reset/S`, `?code=S`. */
export function withoutSecretPaths(text: string, filtered: string): string {
  return text
    .replace(SECRET_PATH, (_, start: string, segments: string) => {
      const parts = segments.split('/').map((part) => (looksRandom(part) ? filtered : part))
      return start + parts.join('/')
    })
    .replace(CODE_PARAMETER, (whole, start: string, value: string) => (looksRandom(value) ? start + filtered : whole))
}

/** Returns true if a parameter is a sign-in code, not a status or error code. */
export function isSecretCode(key: string, value: unknown): boolean {
  return CODE_KEYS.has(key) && typeof value === 'string' && value.length < 2000 && looksRandom(value)
}

const MIN_SECRET_LENGTH = 8
/** A word of this length counts as random if it contains a letter. */
const MIN_RANDOM_LENGTH = 20
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
const FILE_NAME = /\.[a-z]{2,5}\d?(?::\d+){0,2}\)?$/i
/** `ERR_HTTP2_ERROR`, `ORA-00001`, `0x80070005`. */
const ERROR_CODE = /^(?:[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|[A-Za-z]{1,6}-?\d{1,6}|0x[\da-f]+)$/

/** Returns true if a text is random, not a word, slug, number, file or error code. */
export function looksRandom(text: string): boolean {
  if (text.length < MIN_SECRET_LENGTH || ERROR_CODE.test(text) || FILE_NAME.test(text)) return false
  if (UUID.test(text)) return true
  return text.split(/[-_.~:%]/).some((part) => {
    if (part.length >= MIN_RANDOM_LENGTH && /[A-Za-z]/.test(part)) return true
    return part.length >= 5 && /\d/.test(part) && /[A-Za-z]/.test(part) && !/^[A-Za-z]+\d{1,4}$/.test(part)
  })
}
