import type { Context } from '../../context.js'
import { clearProxyWarning, ignoredHeadersText, storeProxyWarning } from '../../health/forwarding-headers.js'
import type { Mount } from '../mount.js'

const FORWARDING_HEADERS = ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'CF-Connecting-IP']

/**
 * Warns if a signed-in request passed an untrusted proxy, behind which all clients share one address and its limits.
 * Ignores unauthenticated requests, because anyone can send these headers.
 */
export function createProxyWarning(context: Context): (mount: Mount, headers: Headers) => void {
  let hasWarned = false
  let hasCleared = false
  return ({ remote_address, peer_address = remote_address }, headers) => {
    // Next.js adds X-Forwarded-For with the address of the peer to requests without that header.
    const header = FORWARDING_HEADERS.find((name) => headers.has(name) && headers.get(name) !== peer_address)
    if (header === undefined) return
    // A framework with its own proxy setting has already resolved the client address.
    if (context.config.trusted_proxies.length > 0 || peer_address !== remote_address) {
      if (hasCleared) return
      hasCleared = true
      clearProxyWarning(context).catch(() => {
        hasCleared = false
      })
      return
    }
    context.counters.add('forwarding_headers_ignored')
    if (hasWarned) return
    hasWarned = true
    context.log.warn(ignoredHeadersText(header))
    // The next visit retries if the database is unavailable.
    storeProxyWarning(context).catch(() => {
      hasWarned = false
    })
  }
}
