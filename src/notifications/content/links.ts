import type { Options } from '../../config/options.js'

/** Addresses of dashboard pages for messages; null while nobody has said how people reach the host. */
export interface Links {
  error(error_id: number): string | null
  page(path: string): string | null
}

type LinkOptions = Pick<Options, 'dashboard_base_url' | 'mount_path'>

/** `seen_at` is the path at which visitors have found the dashboard: it knows mounts and proxies that no option names. */
export function linksOf(options: LinkOptions, seen_at: string | null = null): Links {
  const base = baseOf(options, seen_at)
  const page = (path: string) => (base === null ? null : `${base}${path}`)
  return { page, error: (error_id) => page(`/errors/${error_id}`) }
}

function baseOf({ dashboard_base_url, mount_path }: LinkOptions, seen_at: string | null): string | null {
  if (dashboard_base_url === null) return null
  return `${new URL(dashboard_base_url).origin}${seen_at ?? pathByOptions({ dashboard_base_url, mount_path })}`
}

/** Where the dashboard stands for people, as far as the options know. */
export function pathByOptions({ dashboard_base_url, mount_path }: LinkOptions): string {
  const path = dashboard_base_url === null ? '' : new URL(dashboard_base_url).pathname.replace(/\/+$/, '')
  // Whoever names the dashboard itself means the same.
  return path.endsWith(mount_path) ? path : `${path}${mount_path}`
}

/** Of an address only the host is for everybody: the path of a webhook is its key. */
export function hostOf(address: string | null): string {
  return address === null ? '' : new URL(address).host
}
