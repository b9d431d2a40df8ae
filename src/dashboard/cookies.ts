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

/** A cookie that only our own pages send, and no script can read. */
export function cookieHeader(
  name: string,
  value: string,
  { path, seconds }: { path: string; seconds: number },
): string {
  return `${name}=${encodeURIComponent(value)}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
}
