/** By its User-Agent a request of the tracker itself is told from those of the host: it begins with this. */
const OWN_USER_AGENT = 'faultboard/'

export function isOwnAgent(user_agent: unknown): boolean {
  return typeof user_agent === 'string' && user_agent.startsWith(OWN_USER_AGENT)
}
