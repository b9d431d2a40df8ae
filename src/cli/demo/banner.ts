import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Banner } from '../../context.js'

export const BANNER_PATH = '/hide-banner'
const HIDDEN = 'larder_banner=hidden'

export interface BannerTargets {
  mount_path: string
  /** The error that the newest release introduced. Null until it is recorded. */
  newErrorId: number | null
  version: string
}

/** Pages where a visit starts: the overview, the list and a single error. */
const PAGES = /^(\/|\/overview|\/errors(\/\d+)?)?$/

/** Returns the hints of the demo, or null once the visitor has hidden them. */
export function demoBanner(request: Request, { mount_path, newErrorId, version }: BannerTargets): Banner | null {
  if (newErrorId === null || request.headers.get('cookie')?.includes(HIDDEN)) return null
  const { pathname, search } = new URL(request.url)
  if (!PAGES.test(pathname.slice(mount_path.length))) return null
  return {
    text: 'Sample data. Try:',
    links: [
      { label: 'Why are paid orders lost?', url: `${mount_path}/errors/${newErrorId}` },
      { label: `What did ${version} change?`, url: `${mount_path}/releases?app_version=${version}` },
      { label: 'Break something', url: '/' },
    ],
    dismiss_url: `${BANNER_PATH}?to=${encodeURIComponent(pathname + search)}`,
  }
}

/** Hides the banner and returns to the page. */
export function hideBanner({ url = '/' }: IncomingMessage, response: ServerResponse): void {
  const page = new URL(url, 'http://localhost').searchParams.get('to') ?? '/'
  // Resolved like a link, so that the target is always on this server.
  const { pathname, search } = new URL(page, 'http://localhost')
  const cookie = `${HIDDEN}; Path=/; SameSite=Lax`
  response.writeHead(303, { Location: `${pathname.replace(/^\/+/, '/')}${search}`, 'Set-Cookie': cookie }).end()
}
