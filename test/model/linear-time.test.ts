import { describe, expect, test } from 'vitest'
import { normalizeMessage } from '../../src/model/grouping/normalized-message.js'
import { errorSignature } from '../../src/model/grouping/signature.js'
import { createRedactor } from '../../src/model/redaction/redaction.js'
import { clientAddress } from '../../src/model/requests/client-address.js'
import { detectPlatform } from '../../src/model/requests/platform.js'
import { safeHeaders } from '../../src/model/requests/request-headers.js'
import { parseFrame, stackLines } from '../../src/model/stacks/backtrace.js'
import { codePlace } from '../../src/model/stacks/code-place.js'
import { cleanText } from '../../src/model/text.js'

/** Repeated units that take quadratic time or worse with careless patterns. */
const HOSTILE_UNITS: Record<string, string> = {
  digits: '1',
  'spaced digits': '1 ',
  'grouped digits': '4111 ',
  hexadecimal: 'a1',
  quotes: '"',
  apostrophes: "'a ",
  'open quotes after keys': 'password="',
  'escaped quotes': '\\"',
  backslashes: '\\',
  at: 'a@',
  'email-like': 'a.a@a.',
  'scheme-like': 'aa://',
  'scheme letters': 'a',
  'query-like': '?a&',
  'question marks': '?',
  keys: 'token',
  'keys and separators': 'token:',
  'keys and brackets': 'token:[',
  'keys and lists over lines': 'token:[\n',
  'keys and open strings': 'token:["',
  'open strings in a list': '[\\"\'',
  'bracketed keys': 'a[b]',
  'long bracketed keys': `a[${'b'.repeat(500)}]`,
  'open brackets': 'a[',
  'encoded brackets': 'a%5Bb%5D',
  'encoded separators': '%3D',
  'encoded keys': '%3Ftoken',
  'encoded keys and separators': '%26token%3D',
  'encoded quotes': 'token%3A%22',
  'encoded backslashes': '%22token%22%3A%22%5C',
  percents: '%',
  'percents encoded': '%25',
  'digits of percents': '%252525',
  'encoded schemes': '40aa%3A%2F%2F',
  'encoded schemes and at': 'aa%3A%2F%2Fa%4',
  options: '--token ',
  'options and quotes': '--token "',
  dashes: '-',
  elements: '</<token>',
  'elements with attributes': '</<token a ',
  'elements with text': '<token>a</',
  'open character data': '</<token><![CDATA[',
  'open character data of anything': '</<a1><![CDATA[',
  'row keys': 'Key (token)=(',
  'open row keys': ')=(Key (',
  'secret keys': 'sk-',
  'secret keys of letters': 'sk-a',
  webhooks: 'hooks.slack.com/services/',
  'encoded webhooks': 'hooks.slack.com%2Fservices%2F',
  signatures: '?sig=',
  'quoted headers': 'cookie:a="',
  'keys and gaps': 'password   ',
  'keys and tabs': 'password\t',
  'passwords in sentences': 'wrong password a1',
  'runs of password words': 'password',
  'quotes in a password': "password a'",
  'separators between passwords': 'password -> [',
  'commands of Redis': 'AUTH a1',
  'quotes in a URL': "postgres://a'",
  'quotes in a header': "cookie: a'",
  'quotes in a quoted password': "password='a'b",
  'phrases of a password': 'password: a ',
  'separators inside a password': 'password:a,b',
  'columns and rows': "(a,password) values ('a'',",
  'open rows': '(password) values ((',
  'rows of an error': 'Failing row contains (',
  'values named afterwards': "Duplicate entry 'a' for key '",
  'comparisons with literals': "token like '",
  'names and values': '{name:password,value:',
  'attributes and values': '<a name="password" value="',
  'pairs in a list': '"password","',
  'parts of a form': 'name="password"\r\n\r\n',
  'credentials of curl': 'curl -u a:',
  'passwords of mysql': 'mysql -p',
  'slashes in a password': '@ postgres://a:b/',
  'driver addresses': '@tcp( thin:a/',
  'reset links': '/reset/a1b2c3d4',
  'encoded letters': '%D0%BF',
  'token prefixes': 'sk-key-SG.',
  'calls after keys': 'password=crypt(',
  bearer: 'bearer ',
  'bearer and blanks': 'bearer            ',
  'web tokens': 'eyJaaaaaaaa-',
  'web tokens and dots': 'eyJaaaaaaaa.',
  'private keys': '-----BEGIN PRIVATE KEY-----',
  'putty keys': 'Private-Lines: 1\na',
  'web keys': '"kty","d":"',
  'password hashes': '$6$a',
  'names and random words': 'token a1b2c3d4 ',
  'names and arrows': 'token -> ',
  'names and words': 'token is ',
  'names, separators and brackets': 'token: [[',
  'open entities after keys': 'password=&quot;',
  'entities around keys': '&quot;token&quot;:&quot;',
  'blocks of lines': 'password: |\n a\n',
  'blocks of blank lines': 'password: |\n \n',
  'doubled apostrophes': "''",
  'literals with a column': "'a' as token,",
  'literals without a column': "'a' as ",
  'calls that encrypt': "crypt('a",
  'open calls that encrypt': "crypt(crypt('",
  'named elements': '</<a name="token">',
  'lists of arguments': '"mysql","-p',
  'arguments of htpasswd': 'htpasswd -b a ',
  'statements and parameters': 'select token ? params: [',
  'parameters of a statement': 'update $1 args=a ',
  'members between braces': '{"path":["a","token"],"input":"',
  cookies: 'cookie:a',
  colons: ':',
  'address-like': 'a:',
  'dotted numbers': '1.',
  dates: '2026-01-01 ',
  'month names': 'Mon, Jan ',
  'temporary paths': '/tmp/',
  parentheses: '(',
  'closed parentheses': ' (a)',
  'frame-like lines': '\n    at a (',
  positions: ':1:1',
  blanks: ' ',
  'line ends': '\n',
  'forwarded entries': 'for=10.0.0.1,',
  'forwarded pairs': 'for="\\"";',
  'proxy chains': '10.0.0.1, ',
  'app libraries': 'cfnetwork/',
}

const { text: redact, isSensitiveKey } = createRedactor(['salary'])
const TRUSTED = ['0.0.0.0/0', '::/0']
const OPERATIONS: Record<string, (hostile: string) => unknown> = {
  'redacts text': redact,
  'checks a key': isSensitiveKey,
  'normalizes a message': normalizeMessage,
  'parses a frame': (hostile) => [parseFrame(`at ${hostile}`, '/srv'), parseFrame(hostile, '/srv')],
  'parses a stack': (hostile) => stackLines(`Error: ${hostile}\n${hostile}`, hostile, 50),
  'computes a signature': (hostile) =>
    errorSignature({
      error_type: hostile,
      message: normalizeMessage(hostile),
      place: codePlace([hostile, `at ${hostile}`], '/srv'),
    }),
  'detects the platform': detectPlatform,
  'finds the client address': (hostile) => [
    clientAddress({ remote_address: '10.0.0.1', forwarded_for: hostile }, TRUSTED),
    clientAddress({ remote_address: '10.0.0.1', forwarded: hostile }, TRUSTED),
    clientAddress({ remote_address: hostile }, TRUSTED),
  ],
  'filters headers': (hostile) => [safeHeaders({ referer: hostile }), safeHeaders(hostile.split(','))],
  'cleans text': (hostile) => cleanText(`${hostile}\uD800`, 10_000),
}

const SMALL_SIZE = 4 * 1024
const SIZE_FACTOR = 32
/** Growth exponent: 1 for linear work, 2 for quadratic work. */
const MAX_EXPONENT = 1.5
const MAX_ATTEMPTS = 8
/** Shorter measurements are mostly noise. */
const MIN_MEASURED_MS = 0.5

describe('linear time with 128 KB of hostile text', () => {
  for (const [title, operation] of Object.entries(OPERATIONS)) {
    test(title, () => {
      for (const [name, unit] of Object.entries(HOSTILE_UNITS)) {
        for (const end of ['', 'x', '!']) {
          expect(minExponent(operation, unit, end), `${name} ${end}`).toBeLessThan(MAX_EXPONENT)
        }
      }
      // Generous because a busy machine takes longer. The assertions use processor time only.
    }, 600_000)
  }

  test('the measurement detects a quadratic operation', () => {
    const quadratic = (hostile: string) => {
      let sum = 0
      for (let i = 0; i < hostile.length; i++) sum += hostile.indexOf('!', i)
      return sum
    }
    // The compiler would otherwise run during the measurement of the small text, which hides the growth.
    for (let i = 0; i < 100; i++) quadratic('a'.repeat(SMALL_SIZE))
    const exponents = Array.from({ length: 3 }, () => minExponent(quadratic, 'a', ''))
    expect(Math.max(...exponents)).toBeGreaterThan(MAX_EXPONENT)
  }, 600_000)
})

/**
 * Growth exponent of the processor time. Other load only increases a measurement, so the smallest of several is used.
 * A false failure would need five times the work in every attempt with the large text and none with the small one.
 */
function minExponent(operation: (hostile: string) => unknown, unit: string, end: string): number {
  const [small, large] = [SMALL_SIZE, SMALL_SIZE * SIZE_FACTOR].map((size) => repeatToSize(unit, size) + end) as [
    string,
    string,
  ]
  let minLarge = Number.POSITIVE_INFINITY
  let minSmall = Number.POSITIVE_INFINITY
  let exponent = Number.POSITIVE_INFINITY
  for (let i = 0; i < MAX_ATTEMPTS && exponent >= MAX_EXPONENT; i++) {
    minSmall = Math.min(minSmall, measureMs(operation, small), measureMs(operation, small))
    minLarge = Math.min(minLarge, measureMs(operation, large))
    exponent = Math.log(minLarge / Math.max(minSmall, MIN_MEASURED_MS)) / Math.log(SIZE_FACTOR)
  }
  return exponent
}

function repeatToSize(unit: string, size: number): string {
  return unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
}

/** Processor time, because wall-clock time includes other processes. */
function measureMs(operation: (hostile: string) => unknown, hostile: string): number {
  const start = process.cpuUsage()
  operation(hostile)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
