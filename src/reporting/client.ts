import type { Options } from '../config/options.js'
import { clientAddress } from '../model/requests/client-address.js'
import type { ReportingRequest, RequestOrigin } from './http.js'

export { clientNetwork as rateLimitKey } from '../model/requests/client-address.js'

export interface ClientOptions {
  /** Reads the client address from a custom header, for hosts that need it. */
  client_address?: ((from: ReportingRequest) => string | null | undefined) | undefined
}

/** Client address. A framework with proxy settings has already resolved it. */
export function resolveClient(
  from: ReportingRequest,
  { remote_address, peer_address }: RequestOrigin,
  { client_address }: ClientOptions,
  { trusted_proxies }: Pick<Options, 'trusted_proxies'>,
): string | null {
  const customAddress = normalizeAddress(client_address?.(from))
  if (customAddress !== null) return customAddress
  if (peer_address !== undefined && peer_address !== remote_address) return normalizeAddress(remote_address)
  const { headers } = from.request
  const forwarded_for = headers.get('x-forwarded-for')
  return clientAddress({ remote_address, forwarded_for, forwarded: headers.get('forwarded') }, trusted_proxies)
}

/** Removes the port, zone and IPv4-mapped prefix. Returns null for text that is not an address. */
function normalizeAddress(address: string | null | undefined): string | null {
  return typeof address === 'string' ? clientAddress({ remote_address: address }, []) : null
}
