import { BlockList, isIP } from 'node:net'

/** Origin of a request: the peer of its socket and the headers written by proxies. */
export interface Origin {
  remote_address: string | null | undefined
  /** X-Forwarded-For. */
  forwarded_for?: string | readonly string[] | null | undefined
  /** Forwarded, RFC 7239. */
  forwarded?: string | readonly string[] | null | undefined
}

/**
 * Returns the client address: the peer or, behind trusted proxies, the nearest address in the headers that is not a
 * trusted proxy. Only entries written by trusted proxies are trusted.
 * @example clientAddress({ remote_address: '10.0.0.9', forwarded_for: '6.6.6.6, 198.51.100.7' }, ['private']) //
 * 198.51.100.7
 */
export function clientAddress(
  { remote_address, forwarded_for, forwarded }: Origin,
  trustedProxies: readonly string[],
): string | null {
  const peer = parseAddress(remote_address ?? '')
  if (peer === null || trustedProxies.length === 0) return peer
  const trusted = proxyMatcher(trustedProxies)
  if (!isTrusted(peer, trusted)) return peer
  const [client = peer, other = client] = [
    ...(forwarded_for ? [nearestUntrusted(peer, entriesFromRight(joinHeader(forwarded_for)), trusted)] : []),
    ...(forwarded ? [nearestUntrusted(peer, forwardedFromRight(joinHeader(forwarded)), trusted)] : []),
  ]
  // A proxy writes one of the headers and forwards the other. If they differ, the client may have written either.
  return client === other ? client : peer
}

/** Returns true if headers from this peer can be trusted. */
export function isTrustedProxy(address: string | null, trustedProxies: readonly string[]): boolean {
  const peer = parseAddress(address ?? '')
  return peer !== null && trustedProxies.length > 0 && isTrusted(peer, proxyMatcher(trustedProxies))
}

/**
 * Returns the key by which a client is rate-limited: an IPv4 address, or the /64 network of an IPv6 address. One IPv6
 * client can use every address of its /64.
 *
 * @example
 * clientNetwork('2001:db8:1:2::9') // '2001:db8:1:2::/64'
 */
export function clientNetwork(address: string | null): string {
  const canonical = parseAddress(address ?? '')
  if (canonical === null) return 'unknown'
  if (!canonical.includes(':')) return canonical
  const [start = '', end = ''] = canonical.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const zeros = Array.from({ length: 8 - groups(start).length - groups(end).length }, () => '0')
  return `${[...groups(start), ...zeros, ...groups(end)].slice(0, 4).join(':')}::/64`
}

/** Returns true if the text is an address, a range such as 10.0.0.0/8, or a named range. */
export function isProxyRange(text: string): boolean {
  return Object.hasOwn(NAMED_RANGES, text) || parseRange(text) !== null
}

const NAMED_RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'],
}

/** Caches matchers by list: option values live as long as the tracker, and building a matcher is expensive. */
const matchers = new WeakMap<readonly string[], BlockList>()

function proxyMatcher(trustedProxies: readonly string[]): BlockList {
  const cached = matchers.get(trustedProxies)
  if (cached) return cached
  const matcher = new BlockList()
  for (const text of trustedProxies.flatMap((entry) =>
    Object.hasOwn(NAMED_RANGES, entry) ? (NAMED_RANGES[entry] ?? []) : entry,
  )) {
    const range = parseRange(text)
    if (range) matcher.addSubnet(range.address, range.bits, addressFamily(range.address))
  }
  matchers.set(trustedProxies, matcher)
  return matcher
}

function parseRange(text: string): { address: string; bits: number } | null {
  const [, address = '', bits] = /^([\da-f.:]{2,45})(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const maxBits = { 4: 32, 6: 128 }[isIP(address)]
  if (maxBits === undefined || Number(bits ?? 0) > maxBits) return null
  return { address, bits: Number(bits ?? maxBits) }
}

function isTrusted(address: string, trusted: BlockList): boolean {
  return trusted.check(address, addressFamily(address))
}

function addressFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

/** Longer than any real chain of proxies. Bounds the work on a forged header. */
const MAX_HOPS = 50

/** Walks from the peer outward. An entry that is not an address ends the walk because no entry beyond it is trusted. */
function nearestUntrusted(peer: string, entries: Iterable<string>, trusted: BlockList): string {
  let nearest = peer
  let hops = 0
  for (const entry of entries) {
    const address = parseAddress(entry)
    if (address === null || ++hops > MAX_HOPS) break
    nearest = address
    if (!isTrusted(address, trusted)) break
  }
  return nearest
}

function joinHeader(header: string | readonly string[]): string {
  return typeof header === 'string' ? header : header.join(',')
}

function* entriesFromRight(header: string): Iterable<string> {
  for (let end = header.length; end >= 0; ) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1)
    yield header.slice(comma + 1, end)
    end = comma
  }
}

const MAX_FORWARDED_LENGTH = 8192
/** `for="[2001:db8::1]:443"` with its terminator. White space cannot backtrack, so matching stays linear. */
const FORWARDED_PAIR = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))[ \t]*)?([;,]|$)/y

/**
 * Parses strictly from the left and rejects a malformed header as a whole. A client could open a quote that hides the
 * proxy's entry, or have its own text quoted by the proxy.
 */
function forwardedFromRight(header: string): string[] {
  if (header.length > MAX_FORWARDED_LENGTH) return []
  const hops: string[] = []
  let hop = ''
  FORWARDED_PAIR.lastIndex = 0
  for (;;) {
    const match = FORWARDED_PAIR.exec(header)
    if (!match) return []
    const [, name, quoted, plain, end] = match
    if (name?.toLowerCase() === 'for') hop = quoted ?? plain ?? ''
    if (end === ';') continue
    hops.push(hop)
    if (end === '') return hops.reverse()
    hop = ''
  }
}

const MAX_ADDRESS_LENGTH = 100

/**
 * Parses `192.0.2.1`, `192.0.2.1:8080`, `2001:db8::1` and `[2001:db8::1]:443`. Returns the canonical spelling without
 * port, zone and IPv4 mapping.
 */
function parseAddress(text: string): string | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null
  const [, inBrackets, withPort, plain] =
    /^(?:\[([\da-f.:]+)(?:%[^\]]*)?\](?::\d+)?|([\d.]+):\d+|([\da-f.:]+)(?:%.*)?)$/i.exec(text.trim()) ?? []
  const address = inBrackets ?? withPort ?? plain ?? ''
  const family = isIP(address)
  if (family === 0) return null
  return family === 4 ? address : canonicalIPv6(address)
}

/** Returns the spelling of RFC 5952, or the IPv4 address that is mapped into the IPv6 address. */
function canonicalIPv6(address: string): string {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(canonical) ?? []
  if (high === undefined || low === undefined) return canonical
  return [high, low]
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}
