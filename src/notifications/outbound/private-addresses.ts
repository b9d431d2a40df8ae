import type { LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Rejects a connection that `block_private_addresses` forbids. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'

  constructor() {
    super('Blocked by block_private_addresses: the address is private.')
  }
}

/** Returns true if an address is local, private or reserved. Also handles IPv4-mapped IPv6 addresses. */
export function isPrivateAddress(address: string): boolean {
  const withoutZone = address.replace(/%.*$/, '')
  const version = isIP(withoutZone)
  return version === 0 || PRIVATE_RANGES.check(withoutZone, version === 6 ? 'ipv6' : 'ipv4')
}

/** IP literals bypass DNS, so they are checked before connecting. */
export function rejectPrivateHost(hostname: string): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && isPrivateAddress(host)) throw new PrivateAddressError()
}

/**
 * Resolves a host name for one connection and passes on exactly the addresses that were checked. This prevents DNS
 * rebinding.
 */
export const lookupPublicAddress: LookupFunction = (hostname, options, callback) => {
  process.getBuiltinModule('node:dns').lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const [first] = found ?? []
    if (error || !first) return callback(error ?? new Error(`No address found for ${hostname}.`), [])
    if (found.some(({ address }) => isPrivateAddress(address))) return callback(new PrivateAddressError(), [])
    if (options.all) callback(null, found)
    else callback(null, first.address, first.family)
  })
}

const PRIVATE_IPV4_RANGES = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['192.0.0.0/24', '192.0.2.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4'],
  '240.0.0.0/4',
]

/** Blocks ranges that embed an IPv4 address (NAT64, 6to4, Teredo): no public webhook uses them. */
const PRIVATE_IPV6_RANGES = [
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/32', '2001:db8::/32', '2002::/16'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

const PRIVATE_RANGES = new BlockList()
for (const [ranges, family] of [[PRIVATE_IPV4_RANGES, 'ipv4'] as const, [PRIVATE_IPV6_RANGES, 'ipv6'] as const]) {
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    PRIVATE_RANGES.addSubnet(network, Number(prefix), family)
  }
}
