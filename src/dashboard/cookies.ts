const LIMIT = 2000

/** The value of one of our cookies, or null. */
export function cookieFrom(cookies: string | null, name: string): string | null {
  const value = new RegExp(`(?:^|;\\s*)${name}=([^;]{1,${LIMIT}})`).exec(cookies ?? '')?.[1]
  if (!value) return null
  try {
    return decodeURIComponent(value)
  } catch {
    // Not a cookie of ours.
    return null
  }
}

export interface CookieAttributes {
  path: string
  seconds: number
  /** Whether the browser may send the cookie over HTTPS only. */
  secure?: boolean
  same_site?: 'Strict' | 'Lax'
}

/** Returns a `Set-Cookie` header for a cookie that no script can read. */
export function cookieHeader(
  name: string,
  value: string,
  { path, seconds, secure = false, same_site = 'Strict' }: CookieAttributes,
): string {
  const attributes = `Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=${same_site}${secure ? '; Secure' : ''}`
  return `${name}=${encodeURIComponent(value)}; ${attributes}`
}
