import type { Options } from '../../config/options.js'

/** Builds dashboard URLs for notifications. Returns null when `dashboard_base_url` is not set. */
export interface Links {
  error(error_id: number): string | null
  page(path: string): string | null
}

type LinkOptions = Pick<Options, 'dashboard_base_url' | 'mount_path'>

/**
 * `detected_path` is the public path taken from dashboard requests. It covers mounts and proxies that no option
 * describes.
 */
export function dashboardLinks(options: LinkOptions, detectedPath: string | null = null): Links {
  const base = baseUrl(options, detectedPath)
  const page = (path: string) => (base === null ? null : `${base}${path}`)
  return { page, error: (error_id) => page(`/errors/${error_id}`) }
}

function baseUrl({ dashboard_base_url, mount_path }: LinkOptions, detectedPath: string | null): string | null {
  if (dashboard_base_url === null) return null
  return `${new URL(dashboard_base_url).origin}${detectedPath ?? configuredPath({ dashboard_base_url, mount_path })}`
}

/** Public path of the dashboard according to the options. */
export function configuredPath({ dashboard_base_url, mount_path }: LinkOptions): string {
  const path = dashboard_base_url === null ? '' : new URL(dashboard_base_url).pathname.replace(/\/+$/, '')
  // `dashboard_base_url` may already include the mount path.
  return path.endsWith(mount_path) ? path : `${path}${mount_path}`
}

/** Host of a URL. The path is left out because the path of a webhook URL is its secret. */
export function urlHost(address: string | null): string {
  return address === null ? '' : new URL(address).host
}
