import { deprecate } from 'node:util'

const parseLegacyCookie = deprecate(
  (value) => value.slice('v1.'.length),
  'Cookies of version 1 are deprecated. Issue a new session at the next sign-in.',
  'LARDER001',
)

/** Visitors without an account have a cart too. */
export const GUEST = 'guest'

/** Finds the customer of a request, and adds the customer to every error of that request. */
export function loadSession(request, { tracker }) {
  const [, cookie] = /session=([^;]+)/.exec(request.headers.cookie ?? '') ?? []
  if (!cookie) return { user_id: GUEST }
  const user_id = cookie.startsWith('v1.') ? parseLegacyCookie(cookie) : cookie
  tracker.setUser(user_id)
  tracker.addBreadcrumb({ category: 'session', message: `Restored the session of ${user_id}` })
  return { user_id }
}
