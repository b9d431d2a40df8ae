import { describe, expect, test } from 'vitest'
import {
  isPrivateAddress,
  lookupPublicAddress,
  rejectPrivateHost,
} from '../../../src/notifications/outbound/private-addresses.js'

describe('block_private_addresses', () => {
  test.each([
    ...['127.0.0.1', '127.255.255.254', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
    ...['100.64.0.1', '0.0.0.0', '0.1.2.3', '224.0.0.1', '255.255.255.255', '198.18.0.1'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:a00:1', '::ffff:169.254.169.254', '::127.0.0.1', '64:ff9b::7f00:1'],
    ...['fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd12:3456::1', 'ff02::1', '2002:7f00:1::', 'no address'],
  ])('treats %s as private', (address) => {
    expect(isPrivateAddress(address)).toBe(true)
  })

  test.each(['1.1.1.1', '172.32.0.1', '100.128.0.1', '169.253.1.1', '2606:4700::1111', '::ffff:1.1.1.1'])(
    'treats %s as public',
    (address) => {
      expect(isPrivateAddress(address)).toBe(false)
    },
  )

  test.each([
    ...['127.0.0.1', '127.1', '0x7f.1', '0177.0.0.1', '2130706433', '017700000001', '0', '127。0。0。1'],
    ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:0:0:1]'],
  ])('recognizes the address notation %s', (host) => {
    expect(() => rejectPrivateHost(new URL(`http://${host}:8080/x`).hostname)).toThrow('block_private_addresses')
  })

  test('checks the resolved addresses and returns no other addresses', async () => {
    const error = await new Promise((resolve) => lookupPublicAddress('localhost', { all: true }, resolve))
    expect(error).toMatchObject({ name: 'PrivateAddressError' })
  })

  test('checks address notations that only the operating system resolves', async () => {
    const error = await new Promise((resolve) => lookupPublicAddress('0x7f.1', {}, resolve))
    expect(error).toBeInstanceOf(Error)
  })

  test('returns a public address in the requested format', async () => {
    const all = await new Promise((resolve) =>
      lookupPublicAddress('1.1.1.1', { all: true }, (_, found) => resolve(found)),
    )
    expect(all).toEqual([{ address: '1.1.1.1', family: 4 }])
    const resolved = await new Promise((resolve) =>
      lookupPublicAddress('1.1.1.1', {}, (_, found, family) => resolve([found, family])),
    )
    expect(resolved).toEqual(['1.1.1.1', 4])
  })
})
