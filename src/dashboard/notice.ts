import { cookieFrom, cookieHeader } from './cookies.js'

const COOKIE = 'faultboard_notice'
const LIMIT = 500

/** The cookie that carries an action's message to the page it leads to; it lives just long enough for that. */
export function noticeHeader(notice: string, base: string): string {
  return cookieHeader(COOKIE, notice.slice(0, LIMIT), { path: base, seconds: 10 })
}

export function noticeCleared(base: string): string {
  return cookieHeader(COOKIE, '', { path: base, seconds: 0 })
}

export function noticeFrom(cookies: string | null): string | null {
  return cookieFrom(cookies, COOKIE)?.slice(0, LIMIT) ?? null
}
