import type { Options } from '../config/options.js'
import { clientAddress } from '../model/requests/client-address.js'
import type { Arrival, ReportingRequest } from './arrival.js'

export { clientNetwork as countedBy } from '../model/requests/client-address.js'

export interface ClientOptions {
  /** The client's address, for hosts in which it can be told by nothing but a header of their own. */
  client_address?: ((from: ReportingRequest) => string | null | undefined) | undefined
}

/** The client's address. A framework that was told about its proxies has looked past them already. */
export function clientOf(
  from: ReportingRequest,
  { remote_address, peer_address }: Arrival,
  { client_address }: ClientOptions,
  { trusted_proxies }: Pick<Options, 'trusted_proxies'>,
): string | null {
  const named = plainAddress(client_address?.(from))
  if (named !== null) return named
  if (peer_address !== undefined && peer_address !== remote_address) return plainAddress(remote_address)
  const { headers } = from.request
  const forwarded_for = headers.get('x-forwarded-for')
  return clientAddress({ remote_address, forwarded_for, forwarded: headers.get('forwarded') }, trusted_proxies)
}

/** Without port, zone and IPv4 mapping; null for what is no address. */
function plainAddress(address: string | null | undefined): string | null {
  return typeof address === 'string' ? clientAddress({ remote_address: address }, []) : null
}
