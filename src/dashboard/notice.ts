const COOKIE = 'faultboard_notice'
const LIMIT = 500

/** The cookie that carries an action's message to the page it leads to; it lives just long enough for that. */
export function noticeHeader(notice: string, base: string): string {
  return `${COOKIE}=${encodeURIComponent(notice.slice(0, LIMIT))}; Path=${base}; Max-Age=10; HttpOnly; SameSite=Strict`
}

export function noticeCleared(base: string): string {
  return `${COOKIE}=; Path=${base}; Max-Age=0; HttpOnly; SameSite=Strict`
}

export function noticeFrom(cookies: string | null): string | null {
  const value = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]{1,2000})`).exec(cookies ?? '')?.[1]
  if (!value) return null
  try {
    return decodeURIComponent(value).slice(0, LIMIT)
  } catch {
    // Not a cookie of ours.
    return null
  }
}
