const WINDOW_MS = 60_000
const MAX_PER_WINDOW = 5

const attempts = new Map()

/** Allows five attempts per address and minute. Rejected attempts appear under "Rate limits" in the dashboard. */
export function isOverLimit(request, tracker) {
  const address = request.headers['x-forwarded-for'] ?? request.socket.remoteAddress
  const recent = (attempts.get(address) ?? []).filter((time) => time > Date.now() - WINDOW_MS)
  attempts.set(address, [...recent, Date.now()])
  if (recent.length < MAX_PER_WINDOW) return false
  tracker.requestGuard.record({ kind: 'throttle', rule: 'sign-in', request })
  return true
}

export class SignInError extends Error {
  name = 'SignInError'
}

/** Accounts are locked after ten failed attempts. */
const MAX_ATTEMPTS = 10

export function verifyPassword({ email, password }, database) {
  const [account] = database.query('select email, password_hash, attempts from accounts where email = ?', email)
  if (account && account.attempts >= MAX_ATTEMPTS) {
    throw new SignInError(`Sign-in failed for ${email}: the account is locked`)
  }
  return account?.password_hash === `hash of ${password}`
}
