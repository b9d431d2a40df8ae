/** Prefix of the User-Agent in requests of the tracker itself. */
const OWN_USER_AGENT = 'faultboard/'

export function isOwnUserAgent(userAgent: unknown): boolean {
  return typeof userAgent === 'string' && userAgent.startsWith(OWN_USER_AGENT)
}
