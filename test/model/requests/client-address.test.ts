import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientAddress, clientNetwork, isProxyRange } from '../../../src/model/requests/client-address.js'

const TRUSTED = ['loopback', 'private', '203.0.113.7', '2001:db8:aa::/48']
const behind = (forwarded_for: string | string[], remote_address = '10.0.0.1') =>
  clientAddress({ remote_address, forwarded_for }, TRUSTED)
const behindStandard = (forwarded: string, remote_address = '10.0.0.1') =>
  clientAddress({ remote_address, forwarded }, TRUSTED)

describe('without a trusted peer the headers are not believed', () => {
  const headers = { forwarded_for: '192.0.2.1', forwarded: 'for=192.0.2.1' }
  test('ignores headers without trusted proxies', () => {
    expect(clientAddress({ remote_address: '127.0.0.1', ...headers }, [])).toBe('127.0.0.1')
  })
  test('when the peer is another one', () => {
    for (const remote_address of ['198.51.100.1', '203.0.113.8', '2001:db8:ab::1', '172.32.0.1', '::ffff:8.8.8.8'])
      expect(clientAddress({ remote_address, ...headers }, TRUSTED)).toBe(remote_address.replace('::ffff:', ''))
  })
  test('when the peer is unknown, as that of a connection that is already closed', () => {
    for (const remote_address of [undefined, null, '', '/run/app.sock'])
      expect(clientAddress({ remote_address, ...headers }, ['0.0.0.0/0', '::/0'])).toBeNull()
  })
})

describe('behind trusted proxies the client is the nearest address that is no proxy', () => {
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
  ])('%s', (header, client) => expect(behind(header)).toBe(client))

  test('whichever way the peer is written', () => {
    for (const peer of [
      '127.0.0.1',
      '::1',
      '::ffff:10.0.0.1',
      '::ffff:a00:1',
      'fd00::1',
      'fe80::2%eth0',
      '203.0.113.7',
    ])
      expect(behind('192.0.2.1', peer)).toBe('192.0.2.1')
  })

  test('a header that came several times is one list', () => {
    expect(behind(['6.6.6.6', '198.51.100.7', '10.0.0.2'])).toBe('198.51.100.7')
  })
})

describe('what is no address ends the way at the last one that a proxy vouched for', () => {
  test.each(['', ' ', ',', 'unknown', '_hidden', '1.2.3', '999.1.1.1', '1.2.3.4.5', '[1', '::1]', '<script>', '\0'])(
    '%j',
    (garbage) => {
      expect(behind(garbage)).toBe('10.0.0.1')
      expect(behind(`6.6.6.6, ${garbage}, 10.0.0.2`)).toBe('10.0.0.2')
    },
  )
})

describe('the Forwarded header', () => {
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
  ])('%s', (header, client) => expect(behindStandard(header)).toBe(client))

  test('does not let a client hide what the proxy added behind a quote of its own', () => {
    for (const own of ['for="', 'for=6.6.6.6;x="', 'for=6.6.6.6, for="\\'])
      for (const added of ['for=198.51.100.7', 'for="198.51.100.7"', 'for="[2001:db8::9]:1";by="_x"'])
        expect(behindStandard(`${own}, ${added}`)).toBe('10.0.0.1')
  })

  test('does not take what the proxy quoted for an entry of its own', () => {
    expect(behindStandard('for=198.51.100.7;host="x, for=6.6.6.6;y=";proto=http')).toBe('198.51.100.7')
  })

  test('and X-Forwarded-For are both left aside when they differ: the client may have written either', () => {
    const ask = (forwarded_for: string, forwarded: string) =>
      clientAddress({ remote_address: '10.0.0.1', forwarded_for, forwarded }, TRUSTED)
    expect(ask('198.51.100.7', 'for=198.51.100.7')).toBe('198.51.100.7')
    expect(ask('198.51.100.7', 'for=6.6.6.6')).toBe('10.0.0.1')
    expect(ask('6.6.6.6', 'for=198.51.100.7')).toBe('10.0.0.1')
  })
})

describe('whatever the headers hold', () => {
  test('the answer is an address that stands in them, or the peer', () => {
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
        const client = clientAddress({ remote_address: '10.0.0.1', forwarded_for, forwarded }, TRUSTED) ?? ''
        expect(client === '10.0.0.1' || forwarded_for.includes(client) || forwarded.includes(client)).toBe(true)
      }),
    )
  })

  test('a list without end is not read to its end', () => {
    const chain = `6.6.6.6${', 10.0.0.2'.repeat(10_000)}`
    expect(behind(chain)).toBe('10.0.0.2')
    expect(behindStandard(`for=6.6.6.6${', for=10.0.0.2'.repeat(10_000)}`)).toBe('10.0.0.1')
    expect(behind(`${'6.6.6.6, '.repeat(10_000)}198.51.100.7`)).toBe('198.51.100.7')
  })
})

test('an address, a range or a word names proxies, and nothing else does', () => {
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
  ])('spell %s as %s', (address, canonical) => {
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
  ])('count %s as the network %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network)
  })

  test('have one spelling for every spelling of an address, and one network for every address of a /64', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), group, (groups, last) => {
        const padded = groups.map((one) => one.toString(16).padStart(4, '0').toUpperCase()).join(':')
        const plain = groups.map((one) => one.toString(16)).join(':')
        const canonical = clientAddress({ remote_address: plain }, [])
        expect(clientAddress({ remote_address: padded }, [])).toBe(canonical)
        expect(clientAddress({ remote_address: canonical }, [])).toBe(canonical)
        if (canonical?.includes(':')) {
          const neighbor = [...groups.slice(0, 4), 1, ...groups.slice(5, 7), last].map((one) => one.toString(16))
          expect(clientNetwork(neighbor.join(':'))).toBe(clientNetwork(padded))
        }
      }),
    )
  })
})
