import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Thrown into a connection that block_private_addresses forbids. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'

  constructor() {
    super('block_private_addresses is on, and the address is a private one')
  }
}

/** Whether an address belongs to this machine, this network or nobody. An IPv4 one may be written as IPv6. */
export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  const version = isIP(plain)
  return version === 0 || PRIVATE.check(plain, version === 6 ? 'ipv6' : 'ipv4')
}

/** A host that is an address already is never looked up: it has to be checked before. */
export function refusePrivateHost(hostname: string): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && isPrivateAddress(host)) throw new PrivateAddressError()
}

/**
 * Looks a name up for one connection, which then goes to exactly the addresses that were checked: a name server that
 * answers differently the next time has nothing to gain.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const [first] = found ?? []
    if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), [])
    if (found.some(({ address }) => isPrivateAddress(address))) return callback(new PrivateAddressError(), [])
    if (options.all) callback(null, found)
    else callback(null, first.address, first.family)
  })
}

const IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['192.0.0.0/24', '192.0.2.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4'],
  '240.0.0.0/4',
]

/** Those that carry an IPv4 address inside (NAT64, 6to4, Teredo) are refused whole: nobody's webhook lives there. */
const IPV6 = [
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/32', '2001:db8::/32', '2002::/16'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

const PRIVATE = new BlockList()
for (const [ranges, family] of [[IPV4, 'ipv4'] as const, [IPV6, 'ipv6'] as const]) {
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    PRIVATE.addSubnet(network, Number(prefix), family)
  }
}
