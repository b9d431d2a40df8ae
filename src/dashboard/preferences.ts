import { cleanText } from '../model/text.js'
import { DAY, MINUTE } from '../model/time.js'
import { MAX_NAME_LENGTH } from '../triage/commands/change-errors.js'
import { cookieHeader, readCookie } from './http/cookies.js'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** Time zone of exact times: the viewer's zone, or `time_zone`. */
export const TIME_CHOICES = ['local', 'configured'] as const

const YEAR_SECONDS = (365 * DAY) / 1000
const COOKIES = {
  theme: 'faultboard_theme',
  times: 'faultboard_times',
  name: 'faultboard_name',
  rail: 'faultboard_rail',
  visits: 'faultboard_visits',
} as const
/** Inactivity after which the next request starts a new visit. */
const VISIT_TIMEOUT_MS = 30 * MINUTE

/** Display preferences in cookies. Applied by the server, so that nothing flashes while a page loads. */
export interface Preferences {
  theme: Theme
  /** True if scripts show exact times in the viewer's time zone. */
  shows_local_time: boolean
  /** Name that the person last entered in a form of the shared account. */
  actor_name: string | null
  rail_folded: boolean
  last_visit_at: number | null
}

export function readPreferences(cookies: string | null, now: number): Preferences {
  const theme = readCookie(cookies, COOKIES.theme)
  return {
    theme: THEMES.find((known) => known === theme) ?? 'auto',
    shows_local_time: readCookie(cookies, COOKIES.times) !== 'configured',
    actor_name: cleanText(readCookie(cookies, COOKIES.name) ?? '', MAX_NAME_LENGTH).trim() || null,
    rail_folded: readCookie(cookies, COOKIES.rail) === 'folded',
    last_visit_at: readVisits(cookies, now).previousVisitEnd,
  }
}

/** Returns a `Set-Cookie` header for a changed preference. */
export function preferenceCookie(name: string, value: string, base: string): string {
  const cookie = COOKIES[name as keyof typeof COOKIES]
  return cookieHeader(cookie, value, { path: base, seconds: YEAR_SECONDS })
}

/** Returns a `Set-Cookie` header with the time of this request, at most once a minute; otherwise null. */
export function visitCookie(cookies: string | null, now: number, base: string): string | null {
  const { lastRequestAt, previousVisitEnd } = readVisits(cookies, now)
  if (lastRequestAt !== null && now - lastRequestAt < MINUTE) return null
  return preferenceCookie('visits', `${now}.${previousVisitEnd ?? ''}`, base)
}

/** Parses the time of the last request and the end of the previous visit from the cookie. */
function readVisits(
  cookies: string | null,
  now: number,
): { lastRequestAt: number | null; previousVisitEnd: number | null } {
  const [, requestText, visitText] = /^(\d{1,15})\.(\d{0,15})$/.exec(readCookie(cookies, COOKIES.visits) ?? '') ?? []
  if (!requestText) return { lastRequestAt: null, previousVisitEnd: null }
  const lastRequestAt = Math.min(Number(requestText), now)
  if (now - lastRequestAt > VISIT_TIMEOUT_MS) return { lastRequestAt, previousVisitEnd: lastRequestAt }
  return { lastRequestAt, previousVisitEnd: visitText ? Number(visitText) : null }
}
