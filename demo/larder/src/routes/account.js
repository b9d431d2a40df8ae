import { isOverLimit, verifyPassword } from '../account/sign-in.js'
import { html, layout } from '../pages.js'

export function signIn(request, { database, tracker }) {
  if (isOverLimit(request, tracker)) return { status: 429, page: layout('Please wait a minute', '') }
  const isValid = verifyPassword(request.body, database)
  return { status: isValid ? 200 : 401, page: layout(isValid ? 'Welcome' : 'Wrong password', '') }
}

export function showAccount({ session }, { database }) {
  const accounts = database.query('select email, attempts from accounts where user_id = ?', session.user_id)
  const preferences = readPreferences(accounts[0])
  return { page: layout('Your account', html`<p>Newsletter: ${preferences.newsletter ? 'yes' : 'no'}</p>`) }
}

/** Falls back to the defaults, so the failure stays invisible: see "Swallowed exceptions" in the dashboard. */
function readPreferences(account) {
  try {
    return JSON.parse(account?.preferences ?? '{newsletter}')
  } catch {
    return { newsletter: false }
  }
}
