import { DAY, MINUTE } from '../model/time.js'
import { cookieFrom, cookieHeader } from './cookies.js'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const YEAR_SECONDS = (365 * DAY) / 1000
const COOKIES = { theme: 'faultboard_theme', rail: 'faultboard_rail', visits: 'faultboard_visits' } as const
/** Who comes back after so long pays another visit. */
const VISIT_ENDS_AFTER = 30 * MINUTE

/** What a visitor's browser remembers for us. The server reads it, so that nothing flashes while a page loads. */
export interface Preferences {
  theme: Theme
  rail_folded: boolean
  last_visit_at: number | null
}

export function preferencesFrom(cookies: string | null, now: number): Preferences {
  const theme = cookieFrom(cookies, COOKIES.theme)
  return {
    theme: THEMES.find((one) => one === theme) ?? 'auto',
    rail_folded: cookieFrom(cookies, COOKIES.rail) === 'folded',
    last_visit_at: visitsFrom(cookies, now).before,
  }
}

/** A preference that an action changed, as a header. */
export function preferenceHeader(name: string, value: string, base: string): string {
  const cookie = COOKIES[name as keyof typeof COOKIES]
  return cookieHeader(cookie, value, { path: base, seconds: YEAR_SECONDS })
}

/** Notes that the visitor is here, at most once a minute; null when there is nothing new to note. */
export function visitHeader(cookies: string | null, now: number, base: string): string | null {
  const { before, seen } = visitsFrom(cookies, now)
  if (seen !== null && now - seen < MINUTE) return null
  return preferenceHeader('visits', `${now}.${before ?? ''}`, base)
}

/** The cookie keeps when the visitor was last seen, and when the visit before this one ended. */
function visitsFrom(cookies: string | null, now: number): { seen: number | null; before: number | null } {
  const [, seenText, beforeText] = /^(\d{1,15})\.(\d{0,15})$/.exec(cookieFrom(cookies, COOKIES.visits) ?? '') ?? []
  if (!seenText) return { seen: null, before: null }
  const seen = Math.min(Number(seenText), now)
  if (now - seen > VISIT_ENDS_AFTER) return { seen, before: seen }
  return { seen, before: beforeText ? Number(beforeText) : null }
}
