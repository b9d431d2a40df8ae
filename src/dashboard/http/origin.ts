/**
 * Checks whether a request is cross-origin. Browsers attach Basic credentials automatically, so the check relies on
 * browser headers, the most reliable header first. A client without these headers (curl, scripts) is not a browser.
 */
export function isCrossOriginRequest(headers: Headers, encrypted = false): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const source = headers.get('origin') ?? headers.get('referer')
  if (source === null) return false
  const url = URL.canParse(source) ? new URL(source) : null
  if (url === null || url.host === '') return true
  // Without TLS in this process, a proxy may terminate TLS, so both schemes are possible.
  if (url.protocol !== 'https:' && (encrypted || url.protocol !== 'http:')) return true
  // A proxy that changes Host sends the original name in X-Forwarded-Host.
  return ![headers.get('host'), headers.get('x-forwarded-host')].includes(url.host)
}
