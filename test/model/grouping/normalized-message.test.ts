import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizeMessage } from '../../../src/model/grouping/normalized-message.js'

describe('normalizeMessage with variable parts', () => {
  test.each([
    ['User 550e8400-e29b-41d4-a716-446655440000 is gone', 'User <uuid> is gone'],
    ['User 42 is gone', 'User <number> is gone'],
    ['Balance is -12,345.67', 'Balance is <number>'],
    ['Took 1.5e3 ms', 'Took <number> ms'],
    ['Bad pointer 0xDEADBEEF', 'Bad pointer <number>'],
    ['No object 507f1f77bcf86cd799439011', 'No object <number>'],
    [`Digest ${'0123456789abcdef'.repeat(8)} differs`, 'Digest <number> differs'],
    ['No user "anna"', 'No user <value>'],
    ["No user 'anna'", 'No user <value>'],
    ['No user `anna`', 'No user <value>'],
    ['No user “anna”', 'No user <value>'],
    ["No user 'anna' in 'shop'", 'No user <value> in <value>'],
    ['Mail to anna.b+news@mail.example.com bounced', 'Mail to <email> bounced'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED <address>'],
    ['connect ECONNREFUSED 10.1.2.3', 'connect ECONNREFUSED <address>'],
    ['connect ECONNREFUSED ::1:5432', 'connect ECONNREFUSED <address>'],
    ['connect to [2001:db8::8a2e:370:7334]:443 failed', 'connect to <address> failed'],
    ['connect to fe80::1%eth0 failed', 'connect to <address> failed'],
    ['connect to ::ffff:10.0.0.1 failed', 'connect to <address> failed'],
    ['connect to 2001:0db8:85a3:0000:0000:8a2e:0370:7334', 'connect to <address>'],
    ['Expired at 2026-03-10T12:00:00.123Z', 'Expired at <time>'],
    ['Expired at 2026-03-10 12:00:00+01:00', 'Expired at <time>'],
    ['Expired on 2026-03-10', 'Expired on <time>'],
    [`Expired at ${new Date(0).toUTCString()}`, 'Expired at <time>'],
    ['Expired at Tue Mar 10 2026 12:00:00 GMT+0100 (Central European Standard Time)', 'Expired at <time>'],
    ['ENOENT: open /tmp/upload-Xyz/file', 'ENOENT: open <temp>'],
    ['ENOENT: open /private/var/folders/ab/cd/T/x', 'ENOENT: open <temp>'],
    ['ENOENT: open C:\\Users\\anna\\AppData\\Local\\Temp\\x', 'ENOENT: open <temp>'],
  ])('replaces the variable part of "%s"', (message, normalized) => {
    expect(normalizeMessage(message)).toBe(normalized)
  })

  test('replaces a number of any length with one placeholder', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), (id) => {
        expect(normalizeMessage(`User ${id} is gone`)).toBe('User <number> is gone')
      }),
    )
  })

  test('replaces every UUID, address and time with the same placeholder', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.ipV4(), fc.ipV6(), fc.date({ noInvalidDate: true }), (uuid, v4, v6, date) => {
        fc.pre(date.getUTCFullYear() >= 1000 && date.getUTCFullYear() <= 9999)
        expect(normalizeMessage(`a ${uuid} b ${v4} c ${v6} d ${date.toISOString()}`)).toBe(
          'a <uuid> b <address> c <address> d <time>',
        )
      }),
    )
  })
})

describe('normalizeMessage without variable parts', () => {
  test.each([
    "can't find user's order",
    "The customer's and the shop's clocks differ",
    "It's the sellers' turn, isn't it",
    'Cannot read properties of undefined',
    'Shop::Cart is closed: try again later',
    'Added: the decade faded',
    'Maybe May is a month',
  ])('does not change "%s"', (message) => {
    expect(normalizeMessage(message)).toBe(message)
  })
})

test('limits the length of a normalized message', () => {
  expect(normalizeMessage('x'.repeat(1_000_000)).length).toBeLessThanOrEqual(1000)
})
