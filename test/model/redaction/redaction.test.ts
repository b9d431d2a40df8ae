import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../../src/model/redaction/redaction.js'

const { text: redact } = createRedactor()
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

describe('secrets in free text', () => {
  test.each([
    // Key and value.
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
    // Lists and objects, to the matching closing bracket.
    ["{ secrets: [ [ 'a' ], 'b' ], c: 1 }", '{ secrets: [FILTERED], c: 1 }'],
    ['{"secrets":["a]","b"],"c":1}', '{"secrets":[FILTERED],"c":1}'],
    ['{\\"secrets\\":[\\"a\\",[\\"b\\"]],\\"c\\":1}', '{\\"secrets\\":[FILTERED],\\"c\\":1}'],
    ['credentials: {\n  a: "b"\n}, c', 'credentials: [FILTERED], c'],
    // Brackets in the key.
    ['user[password]=hunter2&a=1', 'user[password]=[FILTERED]&a=1'],
    ['user%5Bpassword%5D=hunter2&a=1', 'user%5Bpassword%5D=[FILTERED]&a=1'],
    ['password[]=hunter2&password[]=b', 'password[]=[FILTERED]&password[]=[FILTERED]'],
    ['user[password][new]=hunter2', 'user[password][new]=[FILTERED]'],
    // A URL or an object inside a parameter, encoded once or twice.
    ['/x?next=%2Fa%3Ftoken%3Dabc', '/x?next=%2Fa%3Ftoken%3D[FILTERED]'],
    ['/x?next=%2Fa%3Fb%3D1%26token%3Dabc%26c%3D2&d=3', '/x?next=%2Fa%3Fb%3D1%26token%3D[FILTERED]%26c%3D2&d=3'],
    ['/x?next=%252Fa%253Ftoken%253Dabc&d=3', '/x?next=%252Fa%253Ftoken%253D[FILTERED]&d=3'],
    ['?q=%7B%22password%22%3A%22a%5C%22b%22%2C%22c%22%3A1%7D', '?q=%7B%22password%22%3A[FILTERED]%2C%22c%22%3A1%7D'],
    ['?q={%22password%22:%22a,b%22,%22c%22:1}', '?q=%7B%22password%22%3A[FILTERED]%2C%22c%22%3A1%7D'],
    ['?q=%7B%22password%22%3A+%22a+b%22%7D', '?q=%7B%22password%22%3A[FILTERED]'],
    ['?q=%7B%22secrets%22%3A%5B%22a%22%5D%7D&b=1', '?q=%7B%22secrets%22%3A[FILTERED]%7D&b=1'],
    ['password=a%26b&c=1', 'password=[FILTERED]&c=1'],
    // Options, elements and row keys.
    ['mysql --password hunter2 -h db', 'mysql --password [FILTERED] -h db'],
    ['mysql --password "hunter 2" -h db', 'mysql --password [FILTERED] -h db'],
    ['mysql --password=hunter2 -h db', 'mysql --password=[FILTERED] -h db'],
    ['<a><password>hunter2</password></a>', '<a><password>[FILTERED]</password></a>'],
    ['<s:Password type="x">hunter 2</s:Password>', '<s:Password type="x">[FILTERED]</s:Password>'],
    ['<password><![CDATA[a<b]c]]></password>', '<password>[FILTERED]</password>'],
    ['Key (password)=(hunter2) already exists.', 'Key (password)=[FILTERED] already exists.'],
    ['Key (token, id)=(a)b, 5) already exists.', 'Key (token, id)=([FILTERED]) already exists.'],
    ['AccountName=a;AccountKey=ab/c+==;Suffix=x', 'AccountName=a;AccountKey=[FILTERED];Suffix=x'],
    // Headers.
    ['Authorization: Digest username="x", response="abc"\nnext', 'Authorization: [FILTERED]\nnext'],
    ['curl -H \'Authorization: Digest a="x", b="y"\' -v', "curl -H 'Authorization: [FILTERED]' -v"],
    ['Authorization: Bearer abcdef123456', 'Authorization: [FILTERED]'],
    ['Authorization: Token abc', 'Authorization: [FILTERED]'],
    ['Cookie: theme=dark; tracking=abc', 'Cookie: [FILTERED]'],
    ['Set-Cookie: id=abc; Path=/', 'Set-Cookie: [FILTERED]'],
    ['"GET /\\r\\nCookie: theme=dark; sid=hunter2"', '"GET /\\r\\nCookie: [FILTERED]"'],
    ['{"Pass word":"hunter2"}', '{"Pass word":[FILTERED]}'],
    ['auth code: hunter2', 'auth code: [FILTERED]'],
    ['curl -H "Authorization: Token abc" https://x.example', 'curl -H "Authorization: [FILTERED]" https://x.example'],
    // Tokens recognized by their shape.
    ['sent Bearer abcdef.123456', 'sent Bearer [FILTERED]'],
    ['sent Basic dXNlcjpwYXNz', 'sent Basic [FILTERED]'],
    [`got ${JWT}!`, 'got [FILTERED]!'],
    ['key AKIAIOSFODNN7EXAMPLE is revoked', 'key [FILTERED] is revoked'],
    [`sent fb_${'aB3-_'.repeat(8)}xyz to a log`, 'sent [FILTERED] to a log'],
    ['git said ghp_abcdefghijklmnopqrstuvwxyz012345', 'git said [FILTERED]'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- is bad', '[FILTERED] is bad'],
    ['key sk-abcdefghijklmnopqrst1234 is wrong', 'key [FILTERED] is wrong'],
    ['key sk-proj-abc_defghijklmnop-1234 is wrong', 'key [FILTERED] is wrong'],
    ['key AIzaSyA-1234567890abcdefghijklmnopqrstu', 'key [FILTERED]'],
    ['npm said npm_abcdefghijklmnopqrstuvwxyz0123456789', 'npm said [FILTERED]'],
    [`next%3D${JWT}`, 'next%3D[FILTERED]'],
    // URLs.
    ['connect postgres://anna:s3cret@db.example/shop', 'connect postgres://[FILTERED]@db.example/shop'],
    ['connect postgres://anna:s3@cret@db.example/shop', 'connect postgres://[FILTERED]@db.example/shop'],
    ['clone https://ghtoken@git.example/x', 'clone https://[FILTERED]@git.example/x'],
    ['GET https://x.example/?token=abc failed', 'GET https://x.example/?token=[FILTERED] failed'],
    ['fetch failed: https://x.example/a?b=1&api_key=abc', 'fetch failed: https://x.example/a?b=1&api_key=[FILTERED]'],
    ['dial postgres%3A%2F%2Fanna%3As3cret%40db.example', 'dial postgres%3A%2F%2F[FILTERED]%40db.example'],
    ['GET https://x.example/c?sv=1&sig=a%2Bb%3D&se=2', 'GET https://x.example/c?sv=1&sig=[FILTERED]&se=2'],
    [
      'POST https://hooks.slack.com/services/T0/B0/x9 failed',
      'POST https://hooks.slack.com/services/[FILTERED] failed',
    ],
    ['https://discord.com/api/webhooks/12/x-9', 'https://discord.com/api/webhooks/[FILTERED]'],
    // An unencoded character after an encoded character.
    ['dial smtp://a%40x.example:Summer#24@mail.example', 'dial smtp://[FILTERED]@mail.example'],
    // Digits of a token that pass the Luhn check.
    ['got xapp-1-A0-4111111111111111-7f4599400a608ea5', 'got [FILTERED]'],
    // Card numbers that pass the Luhn check.
    ['card 4111111111111111 declined', 'card [FILTERED] declined'],
    ['card=4111 1111 1111 1111', 'card=[FILTERED]'],
    ['paid with 5500-0000-0000-0004', 'paid with [FILTERED]'],
    ['amex 3782 822463 10005', 'amex [FILTERED]'],
  ])('redacts %s', (input, filtered) => expect(redact(input)).toBe(filtered))

  const CHOSEN_PASSWORDS = ['hunter2', 'Summer2024!', "o'brien1", 'p@ssw0rd']
  test.each([
    ['password -> S', 'password -> [FILTERED]'],
    ['password->S', 'password->[FILTERED]'],
    ['password(S)', 'password([FILTERED])'],
    ['login failed, password (S) rejected', 'login failed, password ([FILTERED]) rejected'],
    ['Password [S] rejected', 'Password [[FILTERED]] rejected'],
    ['| password | S |', '| password | [FILTERED] |'],
    ['| password   | S   |', '| password   | [FILTERED]   |'],
    ['**password**: S', '**password**: [FILTERED]'],
    ['wrong password S', 'wrong password [FILTERED]'],
    ['Passwort S ist falsch', 'Passwort [FILTERED] ist falsch'],
    ['mot de passe S', 'mot de passe [FILTERED]'],
    ['неверный пароль S', 'неверный пароль [FILTERED]'],
    ['AUTH S', 'AUTH [FILTERED]'],
    ['ERR command AUTH app S failed', 'ERR command AUTH app [FILTERED] failed'],
    ['config set requirepass S', 'config set requirepass [FILTERED]'],
    ['mongodb+srv://u:S@c/db', 'mongodb+srv://[FILTERED]@c/db'],
    ["fetch('https://joe:S@h')", "fetch('https://[FILTERED]@h')"],
    ['Cookie: sid=S', 'Cookie: [FILTERED]'],
    ["curl -H 'Cookie: sid=S; a=b' -v", "curl -H 'Cookie: [FILTERED]' -v"],
    ["password 'S' is too short", 'password [FILTERED] is too short'],
    ["{ password: 'S', a: 1 }", '{ password: [FILTERED], a: 1 }'],
    ['mysql -pS shop', 'mysql -p[FILTERED] shop'],
    ['password: correct S battery', 'password: [FILTERED]'],
  ])('redacts a user-chosen password: %s', (template, filtered) => {
    expect(CHOSEN_PASSWORDS.map((secret) => redact(template.replace('S', () => secret)))).toEqual(
      CHOSEN_PASSWORDS.map(() => filtered),
    )
  })

  test('redacts a long secret completely', () => {
    const long = 'aB3'.repeat(5000)
    for (const input of [
      `token=${long}`,
      `{"token":"${long}"}`,
      `Bearer ${long}`,
      `https://u:${long}@x.example`,
      `eyJ${long}.${long}`,
    ])
      expect(redact(input)).not.toContain('aB3aB3')
  })

  test('redacts the value of a sensitive key in any surrounding text', () => {
    const word = fc.stringMatching(/^[a-z ]{0,12}$/)
    fc.assert(
      fc.property(
        word,
        fc.constantFrom('password', 'accessToken', 'api_key', 'secret'),
        fc.constantFrom('=', ': ', ' = ', '":"', "': '", '=>"'),
        word,
        (before, key, separator, after) => {
          expect(redact(`${before}: ${key}${separator}S3cr3tValue ${after}`)).not.toContain('S3cr3tValue')
        },
      ),
    )
  })
})

describe('text without secrets', () => {
  test.each([
    'TokenError: expired',
    'password -> required',
    'password (optional)',
    'password [string]',
    '| password | created_at |',
    'wrong password, 3 attempts left',
    'wrong password format. Try again!',
    'password sha256 is not supported',
    'password 8-character minimum',
    'password user1@example.com was changed',
    'the tests pass node20',
    'at hashPassword (/srv/shop/src/hash2.js:12:5)',
    'hashPassword(input2)',
    'AUTH CRAM-MD5 failed',
    'AUTH failed: ERR_AUTH_2',
    "see 'https://x.example/a', mail 'a@b.example'",
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
    'option --password is required',
    '--token-type x --verbose y',
    'SELECT 1 -- token of the user',
    'Promise<Token> rejected',
    '<b>password</b>',
    'Key (id)=(5) is not present in table "carts".',
    'killed, sig=11',
    'task-management-in-twenty-words 5',
    'npm_config_registry_of_the_house',
    '[session] started: 5',
    '/x?next=%2Fshipping%3Fspin%3D5%26author%3Danna',
    'basket[shipping]=5',
    '',
  ])('keeps "%s"', (plain) => expect(redact(plain)).toBe(plain))
})

test('does not change text that is already redacted', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(
          ...'pw=:"\'\\{}[]& @/.token password eyJ4111 %3D %26 %22 %5B %25 [ ] ( ) <token> </ --pin sig='.split(' '),
          ' ',
        ),
      }),
      (input) => {
        const once = redact(input)
        expect(redact(once).replaceAll('[FILTERED]', '')).toBe(once.replaceAll('[FILTERED]', ''))
      },
    ),
  )
})

test('keeps groups of digits in a UUID', () => {
  const redactor = createRedactor()
  for (const id of ['992a4111-1111-1111-1d63-ace01cc729b2', 'ab4c9d21-4111-1111-1111-1111aaaaaaaa'])
    expect(redactor.text(`Delivery ${id} failed`)).toBe(`Delivery ${id} failed`)
  expect(redactor.text('paid with 4111-1111-1111-1111')).not.toContain('4111')
})
