import type { Options } from '../../config/options.js'
import { clientAddress, isTrustedProxy } from '../../model/requests/client-address.js'
import type { Mount } from '../mount.js'

type ProxyOptions = Pick<Options, 'trusted_proxies' | 'dashboard_base_url'>

/** Resolves the mount as the client sees it: public path prefix, client address and scheme behind proxies. */
export function behindProxies(
  mount: Mount,
  { headers, url }: Pick<Request, 'headers' | 'url'>,
  options: ProxyOptions,
): Mount & { encrypted: boolean } {
  const isEncrypted = mount.encrypted ?? url.startsWith('https:')
  return {
    ...mount,
    base: `${publicPrefix(mount, headers, options)}${mount.base}`,
    remote_address: resolveClientAddress(mount, headers, options),
    encrypted: isEncrypted || isEncryptedByProxy(mount, headers, options),
  }
}

/**
 * Checks whether a proxy terminates TLS, using the headers of a trusted proxy or the public address of the dashboard.
 */
function isEncryptedByProxy(
  { remote_address, peer_address = remote_address }: Mount,
  headers: Headers,
  { trusted_proxies, dashboard_base_url }: ProxyOptions,
): boolean {
  if (isTrustedProxy(peer_address, trusted_proxies)) {
    if (/^\s*https\b/i.test(headers.get('x-forwarded-proto') ?? '')) return true
    if (/(?:^|[;,\s])proto="?https\b/i.test(headers.get('forwarded') ?? '')) return true
  }
  if (!dashboard_base_url?.startsWith('https:')) return false
  return [headers.get('host'), headers.get('x-forwarded-host')].includes(new URL(dashboard_base_url).host)
}

/** Resolves the client address, unless a framework with its own proxy setting has already resolved it. */
function resolveClientAddress(
  { remote_address, peer_address }: Mount,
  headers: Headers,
  options: ProxyOptions,
): string | null {
  if (peer_address !== undefined && peer_address !== remote_address) return remote_address
  const forwarded_for = headers.get('x-forwarded-for')
  return clientAddress({ remote_address, forwarded_for, forwarded: headers.get('forwarded') }, options.trusted_proxies)
}

const VALID_PREFIX = /^(?:\/[\w.~-]+){1,10}$/

/** Path prefix that a proxy strips, from the header of a trusted proxy or from `dashboard_base_url`. */
function publicPrefix(
  { base, remote_address, peer_address = remote_address }: Mount,
  headers: Headers,
  options: ProxyOptions,
): string {
  const forwardedPrefix = headers.get('x-forwarded-prefix')?.replace(/\/$/, '')
  if (forwardedPrefix && VALID_PREFIX.test(forwardedPrefix) && isTrustedProxy(peer_address, options.trusted_proxies))
    return forwardedPrefix
  if (options.dashboard_base_url === null) return ''
  const path = new URL(options.dashboard_base_url).pathname.replace(/\/$/, '')
  // The option may include the mount path itself.
  return path.endsWith(base) ? path.slice(0, -base.length) : path
}
