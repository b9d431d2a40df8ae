import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientAddress, clientNetwork, isProxyRange } from '../../../src/model/requests/client-address.js'

const TRUSTED_PROXIES = ['loopback', 'private', '203.0.113.7', '2001:db8:aa::/48']
const fromForwardedFor = (forwarded_for: string | string[], remote_address = '10.0.0.1') =>
  clientAddress({ remote_address, forwarded_for }, TRUSTED_PROXIES)
const fromForwarded = (forwarded: string, remote_address = '10.0.0.1') =>
  clientAddress({ remote_address, forwarded }, TRUSTED_PROXIES)

describe('clientAddress with an untrusted peer', () => {
  const headers = { forwarded_for: '192.0.2.1', forwarded: 'for=192.0.2.1' }
  test('ignores headers without trusted proxies', () => {
    expect(clientAddress({ remote_address: '127.0.0.1', ...headers }, [])).toBe('127.0.0.1')
  })
  test('ignores headers of a peer that is not trusted', () => {
    for (const remote_address of ['198.51.100.1', '203.0.113.8', '2001:db8:ab::1', '172.32.0.1', '::ffff:8.8.8.8'])
      expect(clientAddress({ remote_address, ...headers }, TRUSTED_PROXIES)).toBe(remote_address.replace('::ffff:', ''))
  })
  test('returns null for an unknown peer, such as a closed connection', () => {
    for (const remote_address of [undefined, null, '', '/run/app.sock'])
      expect(clientAddress({ remote_address, ...headers }, ['0.0.0.0/0', '::/0'])).toBeNull()
  })
})

describe('clientAddress behind trusted proxies', () => {
  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['6.6.6.6, 198.51.100.7', '198.51.100.7'],
    ['6.6.6.6, 198.51.100.7, 203.0.113.7, 10.9.9.9', '198.51.100.7'],
    ['6.6.6.6,198.51.100.7 ,\t2001:db8:aa::5', '198.51.100.7'],
    ['198.51.100.7:51234', '198.51.100.7'],
    ['[2001:db8::9]:443', '2001:db8::9'],
    ['[2001:db8::9]', '2001:db8::9'],
    ['2001:db8::9', '2001:db8::9'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%eth0]:80', 'fe80::1'],
    ['2001:db8::9%3, 192.168.1.1:80', '2001:db8::9'],
    ['::ffff:198.51.100.7, ::ffff:10.0.0.4', '198.51.100.7'],
    ['10.0.0.9, 10.0.0.8', '10.0.0.9'],
  ])('returns the nearest untrusted address of "%s"', (header, client) => expect(fromForwardedFor(header)).toBe(client))

  test('recognizes a trusted peer in every notation', () => {
    for (const peer of [
      '127.0.0.1',
      '::1',
      '::ffff:10.0.0.1',
      '::ffff:a00:1',
      'fd00::1',
      'fe80::2%eth0',
      '203.0.113.7',
    ])
      expect(fromForwardedFor('192.0.2.1', peer)).toBe('192.0.2.1')
  })

  test('treats a repeated header as one list', () => {
    expect(fromForwardedFor(['6.6.6.6', '198.51.100.7', '10.0.0.2'])).toBe('198.51.100.7')
  })
})

describe('clientAddress with invalid entries', () => {
  test.each(['', ' ', ',', 'unknown', '_hidden', '1.2.3', '999.1.1.1', '1.2.3.4.5', '[1', '::1]', '<script>', '\0'])(
    'stops at the last trusted address before %j',
    (garbage) => {
      expect(fromForwardedFor(garbage)).toBe('10.0.0.1')
      expect(fromForwardedFor(`6.6.6.6, ${garbage}, 10.0.0.2`)).toBe('10.0.0.2')
    },
  )
})

describe('Forwarded header', () => {
  test.each([
    ['for=198.51.100.7', '198.51.100.7'],
    ['for=6.6.6.6, for=198.51.100.7;proto=https;by=10.0.0.1', '198.51.100.7'],
    ['For="198.51.100.7:8080" ; Proto=http , FOR=10.0.0.3', '198.51.100.7'],
    ['for="[2001:db8::9]:4711"', '2001:db8::9'],
    ['proto=https;for=198.51.100.7;host="a;b,c\\"d"', '198.51.100.7'],
    ['for=198.51.100.7:80', '198.51.100.7'],
    ['for=6.6.6.6, for=_hidden, for=10.0.0.4', '10.0.0.4'],
    ['for=6.6.6.6, proto=https', '10.0.0.1'],
    ['for=unknown', '10.0.0.1'],
  ])('parses "%s"', (header, client) => expect(fromForwarded(header)).toBe(client))

  test('ignores a header in which the client opened a quote', () => {
    for (const own of ['for="', 'for=6.6.6.6;x="', 'for=6.6.6.6, for="\\'])
      for (const added of ['for=198.51.100.7', 'for="198.51.100.7"', 'for="[2001:db8::9]:1";by="_x"'])
        expect(fromForwarded(`${own}, ${added}`)).toBe('10.0.0.1')
  })

  test('does not parse entries inside a quoted value', () => {
    expect(fromForwarded('for=198.51.100.7;host="x, for=6.6.6.6;y=";proto=http')).toBe('198.51.100.7')
  })

  test('ignores Forwarded and X-Forwarded-For if they differ', () => {
    const resolveClient = (forwarded_for: string, forwarded: string) =>
      clientAddress({ remote_address: '10.0.0.1', forwarded_for, forwarded }, TRUSTED_PROXIES)
    expect(resolveClient('198.51.100.7', 'for=198.51.100.7')).toBe('198.51.100.7')
    expect(resolveClient('198.51.100.7', 'for=6.6.6.6')).toBe('10.0.0.1')
    expect(resolveClient('6.6.6.6', 'for=198.51.100.7')).toBe('10.0.0.1')
  })
})

describe('arbitrary headers', () => {
  test('returns an address from the headers, or the peer', () => {
    const part = fc.constantFrom(
      'for=',
      '"',
      '\\',
      ',',
      ';',
      ' ',
      '[',
      ']',
      ':',
      '1.2.3.4',
      '::1',
      '10.0.0.2',
      '%',
      'a',
    )
    const text = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (forwarded_for, forwarded) => {
        const client = clientAddress({ remote_address: '10.0.0.1', forwarded_for, forwarded }, TRUSTED_PROXIES) ?? ''
        expect(client === '10.0.0.1' || forwarded_for.includes(client) || forwarded.includes(client)).toBe(true)
      }),
    )
  })

  test('reads a long header up to a limit', () => {
    const chain = `6.6.6.6${', 10.0.0.2'.repeat(10_000)}`
    expect(fromForwardedFor(chain)).toBe('10.0.0.2')
    expect(fromForwarded(`for=6.6.6.6${', for=10.0.0.2'.repeat(10_000)}`)).toBe('10.0.0.1')
    expect(fromForwardedFor(`${'6.6.6.6, '.repeat(10_000)}198.51.100.7`)).toBe('198.51.100.7')
  })
})

test('accepts addresses, ranges and named ranges as proxies', () => {
  const good = ['loopback', 'private', '10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fc00::/7', '::ffff:10.0.0.0/104']
  const bad = [
    '',
    'none',
    'toString',
    'example.org',
    '10.0.0',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '1/8',
  ]
  expect(good.filter(isProxyRange)).toEqual(good)
  expect(bad.filter(isProxyRange)).toEqual([])
})

describe('canonical addresses', () => {
  test.each([
    ['::1', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['0000:0000:0000:0000:0000:0000:0000:0001', '::1'],
    ['2001:DB8:0:0:1::9', '2001:db8::1:0:0:9'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:1.2.3.4', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['[::ffff:102:304]:443', '1.2.3.4'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80:0::0:1%25eth0', 'fe80::1'],
    ['1.2.3.4:8080', '1.2.3.4'],
  ])('normalizes %s to %s', (address, canonical) => {
    expect(clientAddress({ remote_address: address }, [])).toBe(canonical)
  })

  test.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['0:0:0:0:0:0:0:1', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['not an address', 'unknown'],
    [null, 'unknown'],
  ])('maps %s to the network %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network)
  })

  test('returns one spelling per address and one network per /64', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), group, (groups, last) => {
        const padded = groups.map((group) => group.toString(16).padStart(4, '0').toUpperCase()).join(':')
        const plain = groups.map((group) => group.toString(16)).join(':')
        const canonical = clientAddress({ remote_address: plain }, [])
        expect(clientAddress({ remote_address: padded }, [])).toBe(canonical)
        expect(clientAddress({ remote_address: canonical }, [])).toBe(canonical)
        if (canonical?.includes(':')) {
          const neighbor = [...groups.slice(0, 4), 1, ...groups.slice(5, 7), last].map((group) => group.toString(16))
          expect(clientNetwork(neighbor.join(':'))).toBe(clientNetwork(padded))
        }
      }),
    )
  })
})
