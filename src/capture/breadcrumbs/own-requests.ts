/** Prefix of the User-Agent in the tracker's own requests. */
const OWN_USER_AGENT = 'faultboard/'

export function isOwnUserAgent(userAgent: unknown): boolean {
  return typeof userAgent === 'string' && userAgent.startsWith(OWN_USER_AGENT)
}
