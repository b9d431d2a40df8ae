import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/model/redaction.js'

const { text } = createRedactor()
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

describe('secrets in free text are replaced by [FILTERED]', () => {
  test.each([
    // key and value
    ['login failed: password=hunter2', 'login failed: password=[FILTERED]'],
    ['login failed (password: hunter2)', 'login failed (password: [FILTERED])'],
    ['error: cause: token=abc', 'error: cause: token=[FILTERED]'],
    ['a=1&token=abc&b=2', 'a=1&token=[FILTERED]&b=2'],
    ['{"user":"anna","password":"hunter2"}', '{"user":"anna","password":[FILTERED]}'],
    ['{"password":"hun\\"ter2","a":1}', '{"password":[FILTERED],"a":1}'],
    ['{\\"password\\":\\"hunter2\\",\\"a\\":1}', '{\\"password\\":[FILTERED],\\"a\\":1}'],
    ["{ password: 'hunter2', a: 1 }", '{ password: [FILTERED], a: 1 }'],
    ['{"tokens":["abc","def"],"a":1}', '{"tokens":[FILTERED],"a":1}'],
    ['{"credentials":{"user":"anna"},"a":1}', '{"credentials":[FILTERED],"a":1}'],
    ['{"password":"cut off in the mid', '{"password":[FILTERED]'],
    [':password=>"hunter2"', ':password=>[FILTERED]'],
    ['apiKey=abc123', 'apiKey=[FILTERED]'],
    ['invalid API key: abc123', 'invalid API key: [FILTERED]'],
    ['password%3Dhunter2', 'password%3D[FILTERED]'],
    // headers
    ['Authorization: Bearer abcdef123456', 'Authorization: [FILTERED]'],
    ['Authorization: Token abc', 'Authorization: [FILTERED]'],
    ['Cookie: theme=dark; tracking=abc', 'Cookie: [FILTERED]'],
    ['Set-Cookie: id=abc; Path=/', 'Set-Cookie: [FILTERED]'],
    ['curl -H "Authorization: Token abc" https://x.example', 'curl -H "Authorization: [FILTERED]" https://x.example'],
    // tokens by their shape
    ['sent Bearer abcdef.123456', 'sent Bearer [FILTERED]'],
    ['sent Basic dXNlcjpwYXNz', 'sent Basic [FILTERED]'],
    [`got ${JWT}!`, 'got [FILTERED]!'],
    ['key AKIAIOSFODNN7EXAMPLE is revoked', 'key [FILTERED] is revoked'],
    ['git said ghp_abcdefghijklmnopqrstuvwxyz012345', 'git said [FILTERED]'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- is bad', '[FILTERED] is bad'],
    // addresses
    ['connect postgres://anna:s3cret@db.example/shop', 'connect postgres://[FILTERED]@db.example/shop'],
    ['connect postgres://anna:s3@cret@db.example/shop', 'connect postgres://[FILTERED]@db.example/shop'],
    ['clone https://ghtoken@git.example/x', 'clone https://[FILTERED]@git.example/x'],
    ['GET https://x.example/?token=abc failed', 'GET https://x.example/?token=[FILTERED] failed'],
    ['fetch failed: https://x.example/a?b=1&api_key=abc', 'fetch failed: https://x.example/a?b=1&api_key=[FILTERED]'],
    // card numbers that pass the Luhn check
    ['card 4111111111111111 declined', 'card [FILTERED] declined'],
    ['card=4111 1111 1111 1111', 'card=[FILTERED]'],
    ['paid with 5500-0000-0000-0004', 'paid with [FILTERED]'],
    ['amex 3782 822463 10005', 'amex [FILTERED]'],
  ])('%s', (raw, filtered) => expect(text(raw)).toBe(filtered))

  test('a secret of any length goes whole, with no tail left', () => {
    const long = 'aB3'.repeat(5000)
    for (const raw of [
      `token=${long}`,
      `{"token":"${long}"}`,
      `Bearer ${long}`,
      `https://u:${long}@x.example`,
      `eyJ${long}.${long}`,
    ])
      expect(text(raw)).not.toContain('aB3aB3')
  })

  test('a value under a sensitive key never survives, whatever stands around it', () => {
    const word = fc.stringMatching(/^[a-z ]{0,12}$/)
    fc.assert(
      fc.property(
        word,
        fc.constantFrom('password', 'accessToken', 'api_key', 'secret'),
        fc.constantFrom('=', ': ', ' = ', '":"', "': '", '=>"'),
        word,
        (before, key, sign, after) => {
          expect(text(`${before}: ${key}${sign}S3cr3tValue ${after}`)).not.toContain('S3cr3tValue')
        },
      ),
    )
  })
})

describe('text without secrets stays as it is', () => {
  test.each([
    'TokenError: expired',
    'Basic authentication required',
    'bearer token missing',
    'at login (/srv/shop/src/token.js:12:5)',
    'at Auth.login (webpack://auth/./src/session.ts:1:2)',
    'Shop::Auth::Session failed',
    'order 4111111111111112 failed',
    'at 1763175600000 it failed',
    'ratio 0.4111111111111111',
    'user anna@example.com not found at https://example.com/@anna',
    'session_count=5',
    'author: Anna, passengers: 3',
    '',
  ])('%s', (plain) => expect(text(plain)).toBe(plain))
})

test('filtering twice changes nothing more', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'pw=:"\'\\{}[]& @/.token password eyJ4111'.split(' '), ' ') }),
      (raw) => {
        const once = text(raw)
        expect(text(once).replaceAll('[FILTERED]', '')).toBe(once.replaceAll('[FILTERED]', ''))
      },
    ),
  )
})
