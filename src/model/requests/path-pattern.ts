const READ = 2000
const MOST_SEGMENTS = 12

/**
 * The path of an address without its query, with `:id` for what is different in every request: numbers, UUIDs, tokens,
 * addresses of people. Where no route is known it stands for one.
 *
 * @example
 * pathPattern('/users/8/orders/2f1c9a3e?page=2') // /users/:id/orders/:id
 */
export function pathPattern(address: string): string {
  const path = address.slice(0, READ).replace(ORIGIN, '').split(/[?#]/, 1)[0] || '/'
  const segments = path.split('/')
  const shown = segments.slice(0, MOST_SEGMENTS).map((segment) => (isVarying(segment) ? ':id' : segment))
  return segments.length > MOST_SEGMENTS ? `${shown.join('/')}/…` : shown.join('/')
}

const ORIGIN = /^[a-z][a-z\d+.-]{0,20}:\/\/[^/?#]*/i
/** Longer than any word of a path. */
const LONG = 40
const MOST_DIGITS = 3

function isVarying(segment: string): boolean {
  if (segment.length > LONG || /^\d+$/.test(segment) || /@|%40|%00/i.test(segment)) return true
  return segment.replace(/\D/g, '').length > MOST_DIGITS
}
