import type { Options } from '../config/options.js'
import { clientAddress } from '../model/client-address.js'
import type { Arrival, ReportingRequest } from './arrival.js'

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

/** By what a client is counted: of IPv6, everybody has as many addresses as he likes within his own network. */
export function countedBy(address: string | null): string {
  if (address === null) return 'unknown'
  if (!address.includes(':')) return address
  const [before = '', after] = address.split('::')
  const words = before === '' ? [] : before.split(':')
  const behind = after === undefined || after === '' ? [] : after.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - words.length - behind.length) }, () => '0')
  const all = after === undefined ? words : [...words, ...zeros, ...behind]
  return `${all.slice(0, 4).join(':')}::/64`
}
