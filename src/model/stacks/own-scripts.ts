/** Identifies the host's own scripts. */
export interface OwnScripts {
  /** URL of the page. Without it, every script counts as the host's own. */
  page_url?: string | undefined
  /** Other origins that serve the host's bundles, such as a CDN. */
  script_origins?: readonly string[] | undefined
}

/** Returns true if a script is served by the page's own site. Locations without a site count as own code. */
export function isOwnScript(location: string, { page_url, script_origins = [] }: OwnScripts): boolean {
  const host = urlHost(location)
  const page = page_url === undefined ? null : urlHost(page_url)
  if (host === null || page === null || registrableDomain(host) === registrableDomain(page)) return true
  return script_origins.some((origin) => urlHost(origin) === host)
}

function urlHost(url: string): string | null {
  return /^https?:\/\/([^/?#\s]{1,255})/i.exec(url)?.[1]?.toLowerCase().replace(/:\d+$/, '') ?? null
}

/**
 * Registrable domain: `cdn.shop.example` and `www.shop.example` share one; `shop.co.uk` needs three labels. An IP
 * address is kept.
 */
function registrableDomain(host: string): string {
  const labels = host.split('.')
  if (labels.length < 3 || /^[\d.]+$|^\[/.test(host)) return host
  const [secondLevel = '', topLevel = ''] = labels.slice(-2)
  return labels.slice(topLevel.length === 2 && secondLevel.length <= 3 ? -3 : -2).join('.')
}
