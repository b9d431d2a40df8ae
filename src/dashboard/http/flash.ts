import { cookieHeader, readCookie } from './cookies.js'

const COOKIE = 'faultboard_notice'
/** Keeps the cookie well below the 4 KB limit of browsers. */
const MAX_LENGTH = 500

/** Cookie with the flash message of an action. Expires shortly after the redirect. */
export function flashCookie(notice: string, base: string): string {
  return cookieHeader(COOKIE, notice.slice(0, MAX_LENGTH), { path: base, seconds: 10 })
}

export function clearFlashCookie(base: string): string {
  return cookieHeader(COOKIE, '', { path: base, seconds: 0 })
}

export function readFlash(cookies: string | null): string | null {
  return readCookie(cookies, COOKIE)?.slice(0, MAX_LENGTH) ?? null
}
