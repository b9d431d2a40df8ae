/** Whose scripts are the host's own. */
export interface OwnScripts {
  /** Where the page was; without it, every script is taken for the host's own. */
  page_url?: string | undefined
  /** Other origins that serve the host's bundles, such as a network for static files. */
  script_origins?: readonly string[] | undefined
}

/** Whether a script comes from the page's own site. What is no script of a site is not decided here. */
export function isOwnScript(location: string, { page_url, script_origins = [] }: OwnScripts): boolean {
  const host = hostOf(location)
  const page = page_url === undefined ? null : hostOf(page_url)
  if (host === null || page === null || siteOf(host) === siteOf(page)) return true
  return script_origins.some((origin) => hostOf(origin) === host)
}

function hostOf(url: string): string | null {
  return /^https?:\/\/([^/?#\s]{1,255})/i.exec(url)?.[1]?.toLowerCase().replace(/:\d+$/, '') ?? null
}

/** `cdn.shop.example` and `www.shop.example` are of one site; of `shop.co.uk`, three words are. An address is itself. */
function siteOf(host: string): string {
  const words = host.split('.')
  if (words.length < 3 || /^[\d.]+$|^\[/.test(host)) return host
  const [second = '', top = ''] = words.slice(-2)
  return words.slice(top.length === 2 && second.length <= 3 ? -3 : -2).join('.')
}
