const MAX_URL_LENGTH = 2000
const MAX_SEGMENTS = 12

/**
 * Path of a URL without its query, with `:id` for segments that vary: numbers, UUIDs, tokens, email addresses. Used
 * when the route is unknown.
 * @example pathPattern('/users/8/orders/2f1c9a3e?page=2') // /users/:id/orders/:id
 */
export function pathPattern(url: string): string {
  const path = url.slice(0, MAX_URL_LENGTH).replace(ORIGIN, '').split(/[?#]/, 1)[0] || '/'
  const segments = path.split('/')
  const shown = segments.slice(0, MAX_SEGMENTS).map((segment) => (isVariableSegment(segment) ? ':id' : segment))
  return segments.length > MAX_SEGMENTS ? `${shown.join('/')}/…` : shown.join('/')
}

const ORIGIN = /^[a-z][a-z\d+.-]{0,20}:\/\/[^/?#]*/i
/** Longer than any word in a path. */
const MAX_WORD_LENGTH = 40
const MAX_DIGITS = 3

function isVariableSegment(segment: string): boolean {
  if (segment.length > MAX_WORD_LENGTH || /^\d+$/.test(segment) || /@|%40|%00/i.test(segment)) return true
  return segment.replace(/\D/g, '').length > MAX_DIGITS
}
