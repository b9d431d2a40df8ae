/** Maximum length of a cookie value. Longer values are ignored. */
const MAX_VALUE_LENGTH = 2000

/** Returns the value of a dashboard cookie, or null. */
export function readCookie(cookies: string | null, name: string): string | null {
  const value = new RegExp(`(?:^|;\\s*)${name}=([^;]{1,${MAX_VALUE_LENGTH}})`).exec(cookies ?? '')?.[1]
  if (!value) return null
  try {
    return decodeURIComponent(value)
  } catch {
    // The dashboard did not write this cookie.
    return null
  }
}

export interface CookieAttributes {
  path: string
  /** Null for a cookie that ends with the browser. */
  seconds: number | null
  /** Restricts the cookie to HTTPS. */
  secure?: boolean
  same_site?: 'Strict' | 'Lax'
}

/**
 * Encodes a path in the form that browsers compare. Shortens a path with a semicolon to its parent folder, because a
 * semicolon would end the attribute.
 */
function cookiePath(path: string): string {
  const end = path.indexOf(';')
  const safePath = end < 0 ? path : path.slice(0, path.lastIndexOf('/', end) + 1)
  try {
    return safePath.replace(/[^\x21-\x7e]+|["<>`{}^]/gu, encodeURIComponent) || '/'
  } catch {
    // The path contains an unpaired surrogate, which no browser sends.
    return '/'
  }
}

/** Returns a `Set-Cookie` header for a cookie that no script can read. */
export function cookieHeader(
  name: string,
  value: string,
  { path, seconds, secure = false, same_site = 'Strict' }: CookieAttributes,
): string {
  const lifetime = seconds === null ? '' : `; Max-Age=${seconds}`
  const attributes = `Path=${cookiePath(path)}${lifetime}; HttpOnly; SameSite=${same_site}${secure ? '; Secure' : ''}`
  return `${name}=${encodeURIComponent(value)}; ${attributes}`
}
