/**
 * Whether a POST comes from a page of another site. Basic credentials travel by themselves, so a browser's own word
 * about where a request comes from decides; a client that says nothing about it (curl, scripts) is no browser.
 */
export function isForeignOrigin(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = headers.get('origin')
  if (origin === null) return false
  const host = URL.canParse(origin) ? new URL(origin).host : null
  // A proxy may have changed Host; it then tells the name the browser used in X-Forwarded-Host.
  return host === null || ![headers.get('host'), headers.get('x-forwarded-host')].includes(host)
}
