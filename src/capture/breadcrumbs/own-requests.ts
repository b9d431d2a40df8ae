/** Prefix of the User-Agent in requests of the tracker itself. */
const OWN_USER_AGENT = 'faultboard/'

export function isOwnAgent(user_agent: unknown): boolean {
  return typeof user_agent === 'string' && user_agent.startsWith(OWN_USER_AGENT)
}
